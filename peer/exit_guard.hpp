// The last resort when a signal asked for an end and the disk holds a thread: what is staged may be left as it is at any moment.
#pragma once

namespace shoal::peer {

// Ends the process with `code` in 4 s, whatever it does then.
void exit_by_alarm(int code);

}  // namespace shoal::peer
