// Which kind of file system a folder is on, and which mount: glibc's module for Swift lacks these headers.
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// The kernel's number of the mount that an open file or folder is on; 0 if it reports none (before Linux 5.8).
static inline unsigned long long ziggurat_mount(int descriptor) {
  struct statx found = {0};
  const int empty_path = 0x1000;  // AT_EMPTY_PATH, which only GNU's <fcntl.h> shows.
  if (syscall(SYS_statx, descriptor, "", empty_path, STATX_MNT_ID, &found) != 0) return 0;
  return found.stx_mask & STATX_MNT_ID ? found.stx_mnt_id : 0;
}
