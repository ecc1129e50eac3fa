// The type of a folder's file system, its mount, and the exchange of two names. glibc's module for Swift lacks these
// headers.
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// The kernel's mount number of an open file or folder; 0 if it reports none (before Linux 5.8).
static inline unsigned long long ziggurat_mount(int descriptor) {
  struct statx found = {0};
  const int empty_path = 0x1000;  // AT_EMPTY_PATH, which only GNU's <fcntl.h> shows.
  if (syscall(SYS_statx, descriptor, "", empty_path, STATX_MNT_ID, &found) != 0) return 0;
  return found.stx_mask & STATX_MNT_ID ? found.stx_mnt_id : 0;
}

// Exchanges two files or folders atomically; returns 0 on success. Not every file system supports it.
static inline int ziggurat_exchange(const char *one, const char *other) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}
