"""Do texts have what their regular expressions require, whoever matches them?

    python3 test/index/regexps.py [--patterns N] [--long] [--seed N]

core/entries/regexp.c says which literals a pattern requires.  Patterns are drawn from a grammar that
reaches each of its rules, with texts for each that match it by one reading or another.  Where an engine
finds a match, the text must have all literals of one term.  Engines: Python's re and the regexp() of
SQLite's shell; with --long PCRE2 (characters and bytes), ICU, Perl, JavaScript, POSIX's extended
expressions (the C library's), Oniguruma and Java, those that are installed.
"""
import ctypes
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
from cases import arguments, sum_up  # noqa: E402

TEXTS = 10  # of a pattern
PART, BEGINNING, END = 4, 5, 6  # bloom_needle_kind

# -- Patterns ---------------------------------------------------------------------------------------------

LETTERS = list("abcdeABCDE") + list("fikslntjhwyFIKSLTN") + list("0129 _-/:=,#&~\"@%!;") + ["é", "€", "\U0001f600", "\u212a", "\u017f",
           "\u01f0", "\u030c", "\u02bc", "\ufb01", "\ufb02", "\ufb06", "\u00df", "\u0131", "\u0130"]
ESCAPED = list(".\\[]{}|()*+?^$-/ \"'<>`_#&~,:=@%!;")
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{0}", "{1}", "{2}", "{0,}", "{1,}", "{0,2}", "{1,2}", "{,2}", "{00}", "{01}",
               "{ 2 }", "{2, 3}", "{ 0,2}", "{}", "{,}", "{x}", "{", "{1", "{1,", "{0}?", "{1}?", "{2}{0}", "{1,2}+", "+*", "**"]
ESCAPES = [("\\d", "5"), ("\\D", "x"), ("\\w", "a"), ("\\W", " "), ("\\s", " "), ("\\S", "x"), ("\\b", ""), ("\\B", ""), ("\\A", ""), ("\\Z", ""),
           ("\\z", ""), ("\\<", ""), ("\\>", ""), ("\\'", ""), ("\\`", ""), ("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\a", "\a"), ("\\e", "\x1b"),
           ("\\x41", "A"), ("\\x4", "\x04"), ("\\x{41}", "A"), ("\\x6Bbc", "kbc"), ("\\u0041", "A"), ("\\u{41}", "A"), ("\\U00000041", "A"), ("\\101", "A"),
           ("\\0", "\x01"), ("\\012", "\n"), ("\\1", ""), ("\\123abc", "Sabc"), ("\\18", "8"), ("\\o{101}", "A"), ("\\x{30c}", "\u030c"), ("\\u02bc", "\u02bc"),
           ("\\x66", "f"), ("\\pL", "a"), ("\\PL", "1"), ("\\p{L}", "a"), ("\\p{Lu}", "A"), ("\\P{L}", "1"), ("\\N{DIGIT ONE}", "1"), ("\\N", "x"),
           ("\\R", "\n"), ("\\X", "a"), ("\\h", " "), ("\\H", "x"), ("\\v", "\n"), ("\\K", ""), ("\\G", ""), ("\\Qa.b\\E", "a.b"), ("\\Qabc", "abc"),
           ("\\Q|\\E", "|"), ("\\E", ""), ("\\cA", "\x01"), ("\\c|", "<"), ("\\c(", "h"), ("\\C", "a"), ("\\k<n>", ""), ("\\k'n'", ""), ("\\k{n}", ""),
           ("\\g1", ""), ("\\g{1}", ""), ("\\g<1>", "abc"), ("\\d{2}", "12"), ("\\d{0}", ""), ("\\w{2,3}", "abc"), ("\\d{a|bcd}", "bcd}"),
           ("\\d{a", "5{a"), ("\\b{wb}", ""), ("\\é", "é"), ("\\i", "i"), ("\\y", ""), ("\\m", ""), ("\\d{a(b}", "5{ab}"), ("\\x", "x"), ("\\u", "u")]
CLASSES = ["a-", "w.-", "+-", "^a-", "-", "abc", "^abc", "a-c", ".", "]abc", "^]abc", "", "^", "a\\]", "\\]", "\\]|abc", "^\\]|abc", "\\](", "\\])", "\\]\\d", "\\]abc", "\\]*abc",
           "[:alpha:]", "^[:alpha:]", "[:^alpha:]", "[:alpha:]abc", "[:alpha:]|abc", "[:alpha:](", "[:alpha:])", "[:alpha:]\\d", "[:alpha:]*abc", "a[b",
           "a[b]c", "a[^b]c", "[abc]", "[.a.]", "[=a=]", "[:alpha", ":alpha:", "[:a]|abc", "\\Q]\\E", "\\Q]|\\E", "\\Qa", "a\\E]", "\\c]", "\\c]abc", "\\k",
           "\\g", "\\N{DIGIT ONE}", "\\N", "\\d", "\\w\\-.", "\\\\", "\\\\]abc", "\\\\|", "\\x41", "\\x{5d}", "\\u005d", "\\135", "\\p{L}", "\\pL", "&&",
           "a&&b", "a&&[b]", "--", "~~", "||", "|", "(", ")", "a|b", "{", "}", "$", "\\b", "\t", "é", "a\\", "\\[", "\\[abc", "\\é", "s", "f", "\u02bc",
           "\\x{30c}", "\\u02bc", "k", "a-", "-a", "[", "#", "a#]", "\\n", "\\s\\S"]
GROUPS = ["("] * 6 + ["(?:"] * 6 + ["(?>", "(?=", "(?<=", "(?!", "(?!", "(?<!", "(?P<%s>", "(?<%s>", "(?'%s'", "(?|", "(?#", "(?(1)", "(?(?=a)", "(?R",
          "(?i:", "(?m:", "(?-i:", "(?^:", "(?^", "(?x:", "(?P=%s", "(?P>%s", "(?&%s", "(?1", "(?+1", "(?<%s", "(?P%s>", "(?", "(*", "(*ACCEPT",
          "(*SKIP", "(?{", "(?~", "(?C1", "(?'%s", "(?<é>", "(?P<é>"]
FLAGS = ["(?i)", "(?i)", "(?-i)", "(?s)", "(?m)", "(?x)", "(?xm)", "(?im)", "(?i-s)", "(?u)", "(?a)", "(?L)", "(?U)", "(?J)", "(?)", "(?^)", "(?^i)", "(?n)",
         "(?xx)", "(?i)*", "(?m)+", "(?s){0}", "(?s)?"]
STRAY = [")", "(", "*", "+", "?", "{", "{2}", "[", "]", "}", "\\", "|", "^*", "$+", "^", "$", "^", "$", ".", ".", ".*", ".+", "\t", "\x01", "\x7f", "\n", "^{2}", "$?"]
FOLDS = [("k", "\u212a"), ("s", "\u017f"), ("st", "\ufb06"), ("st", "\ufb05"), ("ss", "\u00df"), ("fl", "\ufb02"), ("fi", "\ufb01"), ("ff", "\ufb00"), ("i", "\u0131"),
         ("i", "\u0130"), ("\u02bcn", "\u0149"), ("j\u030c", "\u01f0"), ("h\u0331", "\u1e96"), ("w\u030a", "\u1e98"), ("é", "É"), ("i", "I"), ("fl", "FL"), ("ffl", "\ufb04")]


class Part:
    """A part of a pattern: its source, and texts that it may stand for."""

    def __init__(self, source, *texts):
        self.source, self.texts = source, list(texts) or [""]


class Grammar:
    def __init__(self, r):
        self.random = r

    def word(self):
        r = self.random
        if r.random() < 0.2:
            word = r.choice(FOLDS)[r.randint(0, 1)]
            return r.choice(["", "", "ab", "abc", "xyz"]) + word + r.choice(["", "ab", "bcd"])
        return "".join(r.choice(LETTERS[:16] if r.random() < 0.7 else LETTERS) for _ in range(r.choice([1, 2, 3, 3, 4, 4, 5, 7])))

    def escaped(self):
        c = self.random.choice(ESCAPED)
        return Part("\\" + c, c, c, "")

    def quantified(self, part):
        r = self.random
        quantifier = r.choice(QUANTIFIERS)
        texts = []
        for text in part.texts[:6]:
            texts += ["", text, text * 2, text + quantifier]
        return Part(part.source + quantifier, *r.sample(texts, min(len(texts), 12)))

    def parted(self):
        """Characters that may be one where case is ignored, in a group or class and behind it."""
        r = self.random
        several, one = r.choice([pair for pair in FOLDS if len(pair[0]) == 2])
        before, behind = r.choice(["", "ab", "abc"]), r.choice(["", "ab", "abc"])
        form = r.choice(["(?:%s)%s", "[%s]%s", "%s(?:%s)", "%s[%s]", "(%s)%s"])
        # The group takes what is before, too; a class would be of several.
        begin = before + several[0] if form[0] == "(" else several[0]
        source = form % (begin, several[1] + behind if form[-1] == "s" else several[1])
        if form[0] != "(":
            source = before + source
        if form[-1] != "s":
            source += behind
        return Part(source, before + several + behind, before + one + behind)

    def literal(self):
        r = self.random
        if r.random() < 0.06:
            return self.parted()
        word = self.word()
        if r.random() < 0.2:
            return self.sequence_of([Part(word, word), self.escaped(), Part(word[::-1], word[::-1])])
        if r.random() < 0.35:
            last = self.quantified(Part(word[-1], word[-1]))
            return self.sequence_of([Part(word[:-1], word[:-1]), last])
        return Part(word, word)

    def char_class(self):
        r = self.random
        content = r.choice(CLASSES)
        texts = ["a", "b", "]", "5", "", "|", "(", "x]", "a]", "abc]", "]abc", "|abc", "*abc]", "]]", "-", "\\", "#", "\u030c", "\u02bc", "f", "s", "st"]
        texts += [c for c in content] + [content, content + "]"]
        if content[:2] == "\\]" or content[:1] == "[":
            texts += content.replace("\\]", "").split("|") * 3
        return Part("[" + content + "]", *texts)

    def group(self, depth):
        r = self.random
        if r.random() < 0.15:
            return Part(r.choice(FLAGS), "")
        begin = r.choice(GROUPS)
        inner = self.alternatives(depth + 1)
        if "%s" in begin:
            begin = begin % r.choice(["n", "m", "n1", "n_2"])
        texts = inner.texts + [""]
        for text in inner.texts[:4]:
            texts += [begin[1:] + text]
        return Part(begin + inner.source + ")", *texts)

    def item(self, depth):
        r = self.random
        kind = r.random()
        if kind < 0.55:
            return self.literal()
        if kind < 0.65:
            source, text = r.choice(ESCAPES)
            part = Part(source, text, text, source[1:], source)
        elif kind < 0.75:
            part = self.char_class()
        elif kind < 0.92 and depth < 3:
            part = self.group(depth)
        else:
            source = r.choice(STRAY) if r.random() < 0.3 else r.choice([".", ".*", "^", "$", ".+"])
            return Part(source, "", "x", source)
        return self.quantified(part) if r.random() < 0.3 else part

    def sequence_of(self, parts):
        texts = ["".join(self.random.choice(p.texts) for p in parts) for _ in range(TEXTS)]
        return Part("".join(p.source for p in parts), *texts)

    def alternatives(self, depth):
        r = self.random
        many = [self.sequence_of([self.item(depth) for _ in range(r.choice([1, 2, 2, 3]))]) for _ in range(r.choice([1, 1, 1, 1, 2]))]
        if r.random() < 0.05:
            many.append(Part("", ""))
        if r.random() < 0.01:
            many += [Part(w, w) for w in (self.word() for _ in range(18))]
        return Part("|".join(m.source for m in many), *[t for m in many for t in m.texts])

    def changed(self, text):
        """A text that is near another."""
        r = self.random
        kind = r.random()
        if kind < 0.4 or not text:
            return text
        if kind < 0.5:
            return text.swapcase()
        if kind < 0.8:
            there = [x for a, b in FOLDS for x in ((a, b), (b, a)) if x[0] in text]
            for a, b in r.sample(there, min(len(there), r.randint(1, 2))):
                text = text.replace(a, b)
            return text
        at = r.randrange(len(text))
        return text[:at] + r.choice(["", "x", "\n", "\u030c", text[at] * 2]) + text[at + 1:]

    def draw(self):
        """A pattern, and texts for it."""
        r = self.random
        pattern = self.alternatives(0)
        source = r.choice(["", "", "", "(?i)", "^", "^", "(?i)^", "(?s)^"]) + pattern.source + r.choice(["", "", "$"])
        texts = [r.choice(["", "", "", "x", "a b ", "x\n", "\n", "\r", "\u2028", "\ufeff"]) + self.changed(r.choice(pattern.texts)) + r.choice(["", "", "", "x", " \u030c", "\n", "\n\n", "\r\n", "\nx"]) for _ in range(TEXTS)]
        return source, [t.replace("\0", "") for t in texts]


# -- The reader ---------------------------------------------------------------------------------------------

class Terms(ctypes.Structure):
    _fields_ = [("num_terms", ctypes.c_uint32), ("terms", ctypes.c_uint64 * 16)]


class Literal(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint16), ("num_bytes", ctypes.c_uint16), ("kind", ctypes.c_int)]


class Regexp(ctypes.Structure):
    _fields_ = [("required", Terms), ("num_literals", ctypes.c_uint32), ("num_bytes", ctypes.c_uint32), ("ignores_case", ctypes.c_int),
                ("literals", Literal * 64), ("bytes", ctypes.c_uint8 * 2048)]


class Reader:
    def __init__(self):
        path = os.path.join(tempfile.mkdtemp(), "regexp.so")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O1", "-fPIC", "-shared", "-Iext/core/entries", "ext/core/entries/regexp.c", "ext/core/entries/texts.c",
                        "-o", path], check=True)
        self.library = ctypes.CDLL(path)
        shutil.rmtree(os.path.dirname(path))

    def required(self, pattern, flags):
        """The terms, each a list of literals in lower case, with where it is in a text."""
        regexp, text = Regexp(), pattern.encode()
        if not self.library.bloom_regexp_read(ctypes.byref(regexp), text, ctypes.c_size_t(len(text)), flags):
            return []
        content = bytes(regexp.bytes)
        literals = [(lower(content[x.first:x.first + x.num_bytes]), x.kind) for x in regexp.literals[:regexp.num_literals]]
        return [[literal for j, literal in enumerate(literals) if term >> j & 1] for term in regexp.required.terms[:regexp.required.num_terms]]


def has(text, literal, kind):
    return {PART: literal in text, BEGINNING: text.startswith(literal), END: text.endswith(literal)}[kind]


def lower(text):
    return bytes(c + 32 if 65 <= c <= 90 else c for c in text)


# -- Engines: each tells, for pairs of a pattern and texts, which texts match; None is an error -----------

def python_re(flags):
    def match(pairs):
        for pattern, texts in pairs:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    compiled = re.compile(pattern, flags)
                    yield [compiled.search(t) is not None for t in texts]
            except (re.error, ValueError, OverflowError, RecursionError):
                yield None
    return match


def shell(pairs):
    """One process; an error of a pattern leaves the lines of its texts out."""
    def literal(text):
        return "CAST(x'%s' AS TEXT)" % text.encode().hex()
    lines = []
    for number, (pattern, texts) in enumerate(pairs):
        columns = " || ".join("(%s REGEXP %s)" % (literal(t), literal(pattern)) for t in texts)
        lines.append("SELECT '%d:' || %s;" % (number, columns))
    done = subprocess.run(["sqlite3", ":memory:"], input="\n".join(lines).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found = dict(line.split(":") for line in done.stdout.decode().split("\n") if line)
    for number in range(len(pairs)):
        answer = found.get(str(number))
        yield [c == "1" for c in answer] if answer else None


def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def pcre2(options, is_bytes=False):
    lib = library("libpcre2-8.so.0")
    if lib is None:
        return None
    lib.pcre2_compile_8.restype = lib.pcre2_match_data_create_8.restype = ctypes.c_void_p
    compile_ = lib.pcre2_compile_8
    compile_.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    lib.pcre2_match_data_create_8.argtypes = [ctypes.c_uint32, ctypes.c_void_p]
    lib.pcre2_match_8.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    lib.pcre2_code_free_8.argtypes = [ctypes.c_void_p]
    data = lib.pcre2_match_data_create_8(10, None)
    bits = options | (0 if is_bytes else 0x00080000 | 0x00020000)  # UTF, UCP

    def match(pairs):
        error, offset = ctypes.c_int(), ctypes.c_size_t()
        for pattern, texts in pairs:
            source = pattern.encode()
            code = compile_(source, len(source), bits, ctypes.byref(error), ctypes.byref(offset), None)
            if not code:
                yield None
                continue
            yield [lib.pcre2_match_8(code, t.encode(), len(t.encode()), 0, 0, data, None) >= 0 for t in texts]
            lib.pcre2_code_free_8(code)
    return match


def icu(flags):
    lib = library("libicui18n.so.72")
    if lib is None:
        return None
    functions = {}
    for name in ("open", "setTimeLimit", "setText", "find", "close"):
        functions[name] = getattr(lib, "uregex_%s_72" % name)
    functions["open"].restype = ctypes.c_void_p
    functions["open"].argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    functions["setTimeLimit"].argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
    functions["setText"].argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    functions["find"].argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
    functions["find"].restype = ctypes.c_int8
    functions["close"].argtypes = [ctypes.c_void_p]

    def match(pairs):
        for pattern, texts in pairs:
            status = ctypes.c_int(0)
            source = pattern.encode("utf-16-le")
            code = functions["open"](source, len(source) // 2, flags, None, ctypes.byref(status))
            if status.value > 0:
                yield None
                continue
            functions["setTimeLimit"](code, 1000, ctypes.byref(status))  # (?i:)+?a has no end
            answer = []
            for text in texts:
                as_utf16 = text.encode("utf-16-le")
                functions["setText"](code, as_utf16, len(as_utf16) // 2, ctypes.byref(status))
                answer.append(bool(functions["find"](code, 0, ctypes.byref(status))) and status.value <= 0)
            functions["close"](code)
            yield answer
    return match


def posix(flags):
    lib = ctypes.CDLL(None)

    def match(pairs):
        compiled = ctypes.create_string_buffer(256)
        for pattern, texts in pairs:
            if lib.regcomp(compiled, pattern.encode(), 1 | flags):
                yield None
                continue
            yield [lib.regexec(compiled, t.encode(), 0, None, 0) == 0 for t in texts]
            lib.regfree(compiled)
    return match


def oniguruma(options):
    lib = library("libonig.so.5")
    if lib is None:
        return None
    syntax, encoding = ctypes.addressof(ctypes.c_char.in_dll(lib, "OnigSyntaxRuby")), ctypes.addressof(ctypes.c_char.in_dll(lib, "OnigEncodingUTF8"))
    pointer = ctypes.c_void_p
    lib.onig_new.argtypes = [pointer, pointer, pointer, ctypes.c_uint, pointer, pointer, pointer]
    lib.onig_search.argtypes = [pointer, pointer, pointer, pointer, pointer, pointer, ctypes.c_uint]
    lib.onig_free.argtypes = [pointer]

    def match(pairs):
        for pattern, texts in pairs:
            code, info = pointer(), ctypes.create_string_buffer(64)
            source = ctypes.create_string_buffer(pattern.encode())
            begin = ctypes.addressof(source)
            if lib.onig_new(ctypes.byref(code), begin, begin + len(source) - 1, options, encoding, syntax, info):
                yield None
                continue
            answer = []
            for text in texts:
                buffer = ctypes.create_string_buffer(text.encode())
                first = ctypes.addressof(buffer)
                end = first + len(buffer) - 1
                answer.append(lib.onig_search(code, first, end, first, end, None, 0) >= 0)
            lib.onig_free(code)
            yield answer
    return match


PERL = r"""
use strict; use warnings; no warnings; use JSON::PP;
local $/; my $pairs = decode_json(<STDIN>); my @out;
for my $pair (@$pairs) {
  my ($p, $texts) = @$pair;
  my $code = eval { local $SIG{ALRM} = sub { die }; $ARGV[0] ? qr/$p/i : qr/$p/ };
  push @out, defined $code ? [map { my $t = $_; eval { $t =~ $code } ? 1 : 0 } @$texts] : undef;
}
print encode_json(\@out);
"""
NODE = r"""
const pairs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(pairs.map(([p, texts]) => {
  try { const code = new RegExp(p, process.argv[1]); return texts.map(t => code.test(t)); } catch (e) { return null; }
})));
"""
JAVA = r"""
import java.io.*; import java.util.regex.*; import java.nio.charset.StandardCharsets;
public class Match {
  static String text(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    return new String(bytes, StandardCharsets.UTF_8);
  }
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    StringBuilder out = new StringBuilder();
    for (String line; (line = in.readLine()) != null; ) {
      String[] all = line.split(",", -1);
      try {
        Pattern p = Pattern.compile(text(all[0]), Integer.parseInt(args[0]));
        for (int i = 1; i < all.length; i++) out.append(p.matcher(text(all[i])).find() ? '1' : '0');
      } catch (RuntimeException | StackOverflowError e) { out.append('e'); }
      out.append('\n');
    }
    System.out.print(out);
  }
}
"""


def process(*command):
    if shutil.which(command[0]) is None:
        return None

    def match(pairs):
        done = subprocess.run(command, input=json.dumps(pairs).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return json.loads(done.stdout)
    return match


def java(flags):
    if shutil.which("javac") is None:
        return None

    def match(pairs):
        folder = tempfile.mkdtemp()
        with open(folder + "/Match.java", "w") as f:
            f.write(JAVA)
        lines = "\n".join(",".join(x.encode().hex() for x in [pattern] + texts) for pattern, texts in pairs) + "\n"
        done = subprocess.run(["java", folder + "/Match.java", str(flags)], input=lines.encode(), stdout=subprocess.PIPE, check=True)
        shutil.rmtree(folder)
        return [None if "e" in line else [c == "1" for c in line] for line in done.stdout.decode().split("\n")[:-1]]
    return match


def engines(is_long):
    """Name, its flags (1: it ignores case, 2: ^ or $ is where lines begin or end), how it matches (None: not installed)."""
    yield "re", 0, python_re(0)
    yield "re, case ignored", 1, python_re(re.I)
    yield "shell", 0, shell if shutil.which("sqlite3") else None
    yield "re, lines", 2, python_re(re.M)
    if not is_long:
        return
    yield "re, ASCII, dot and lines", 3, python_re(re.I | re.A | re.S | re.M)
    yield "PCRE2", 0, pcre2(0)
    yield "PCRE2, case ignored", 1, pcre2(8)
    yield "PCRE2, bytes", 0, pcre2(0, True)
    yield "PCRE2, bytes, case ignored", 1, pcre2(8, True)
    yield "ICU", 2, icu(0)
    yield "ICU, case ignored", 3, icu(2)
    yield "POSIX", 0, posix(0)
    yield "POSIX, case ignored", 1, posix(2)
    yield "Perl", 0, process("perl", "-e", PERL, "0")
    yield "Perl, case ignored", 1, process("perl", "-e", PERL, "1")
    for flags in ("", "u", "v", "i", "iu", "iv"):
        yield "JavaScript " + flags, int("i" in flags), process("node", "-e", NODE, "--", flags)
    yield "Oniguruma", 2, oniguruma(0)
    yield "Oniguruma, case ignored", 3, oniguruma(1)
    yield "Java", 2, java(0)
    yield "Java, case ignored", 3, java(2 | 64)


def main():
    options = arguments(patterns=4000, long=False)
    grammar, reader = Grammar(random.Random(options.seed)), Reader()
    pairs = [grammar.draw() for _ in range(options.patterns)]
    required = [[reader.required(pattern, flags) for pattern, _ in pairs] for flags in range(4)]
    num_passed = num_failed = 0
    for name, flags, match in engines(options.long):
        if match is None:
            print("note: %s is not installed" % name)
            continue
        num_matches = num_required = num_wrong = num_compiled = 0
        for (pattern, texts), terms, answers in zip(pairs, required[flags], match(pairs)):
            num_compiled += answers is not None
            for text, is_match in zip(texts, answers or []):
                if not is_match:
                    continue
                num_matches += 1
                num_required += terms != []
                content = lower(text.encode())
                if terms and not any(all(has(content, *literal) for literal in term) for term in terms):
                    num_wrong += 1
                    if num_wrong <= 5:
                        print("FAILED: %s finds %r in %r, which has nothing of %r" % (name, pattern, text, terms))
        # What matches nothing, or requires nothing, would prove nothing.
        if num_required < len(pairs) // 10:
            print("FAILED: %s: %d matches of patterns that require something" % (name, num_required))
            num_wrong += 1
        num_passed += num_wrong == 0
        num_failed += num_wrong > 0
        print("note: %s: %d of %d patterns, %d matches, %d of them with something required" % (name, num_compiled, len(pairs), num_matches, num_required))
    return sum_up(num_passed, num_failed)


sys.exit(main())
