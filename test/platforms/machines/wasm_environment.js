// Hands the process's environment to a program that was compiled to WebAssembly.
Module.preRun = () => { if (typeof ENV === 'object') Object.assign(ENV, process.env); };
