#include <sodium.h>
#include <sys/prctl.h>

// prctl takes a variable number of arguments, which Swift cannot call.
static inline int forbid_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }
