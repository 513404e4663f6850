"""test/index/regexp.c, a regexp() that takes any bytes, built here as a library to load."""
import os
import shutil
import subprocess

FOLDER = os.path.join("build", "index")
PATH = os.path.join(FOLDER, "regexp.so")


def make():
    """Whether PATH could be built."""
    os.makedirs(FOLDER, exist_ok=True)
    made = os.path.join(FOLDER, "regexp-%d.so" % os.getpid())
    command = [os.environ.get("CC", "cc"), "-O1", "-fPIC", "-shared", "test/index/regexp.c", "-o", made]
    if shutil.which(command[0]) is None or subprocess.run(command, check=False).returncode != 0:
        return False
    os.replace(made, PATH)
    return True


def load(db, name="regexp"):
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, ?)", (PATH, "sqlite3_%s_init" % name))
