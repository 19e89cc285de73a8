//! Torture for the PDF reader: documents built in code that are broken, odd or hostile, each with the ending it must have;
//! then files cut at every step and files with one byte changed. In one process, on the thread that the parsers' stage
//! would use; what could take down a process goes through the whole program in `tests/hostile`.

mod build;
mod cases;
mod hostile;
mod run;
mod sweep;
