#include <sodium.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl takes a variable number of arguments, which Swift cannot call.
static inline int forbid_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

// Declared for _GNU_SOURCE alone, which Swift does not define; 1 is MFD_CLOEXEC.
static inline int make_memory_file(void) { return (int)syscall(SYS_memfd_create, "", 1L); }
