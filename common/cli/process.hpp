// What every program does before anything else, and after it. From main.
#pragma once

#include <string>

namespace shoal::cli {

// A write to a closed pipe or beyond the limit on a file's size is an error of that write, not the end of the process; and no file that is opened later is
// taken for a stdin, stdout or stderr that was closed.
void begin_process();

// The last resort when a signal asked for an end, and a read of a dead store or disk holds a thread that nobody can call back: the process ends with `code`
// in 4 s, whatever it does then. Again: with the later code, and time. Any thread.
void exit_by_alarm(int code);

// `code`; but 1, with a line on stderr, where all went well and stdout could not be written: somebody waits for what is missing there.
int end_process(const std::string& program, int code);

}  // namespace shoal::cli
