#ifndef ZIGGURAT_MICROHTTPD_SHIM_H
#define ZIGGURAT_MICROHTTPD_SHIM_H

#include <sys/types.h>
#include <sys/socket.h>
#include <stdarg.h>
#include <stdint.h>
#include <microhttpd.h>

// Information that libmicrohttpd returns only by variadic functions, which Swift cannot call.

static inline void *zg_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : 0;
}

static inline int zg_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *zg_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : 0;
}

/// Returns the bytes from the method to the end of the empty line after the headers.
static inline size_t zg_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/// Sets an idle timeout for one connection.
static inline void zg_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static inline ssize_t zg_read_nothing(void *nothing, uint64_t position, char *room, size_t size) {
  (void)nothing, (void)position, (void)room, (void)size;
  return MHD_CONTENT_READER_END_OF_STREAM;
}

/// Creates a response for 304 or HEAD with a length and no body.
static inline struct MHD_Response *zg_response_of_length(uint64_t length) {
  return MHD_create_response_from_callback(length, 1, zg_read_nothing, 0, 0);
}

/// Creates a response for 304 or HEAD without a length, after which the connection ends. `ChunkedBody` replaces it
/// unless the socket is full.
static inline struct MHD_Response *zg_response_without_length(void) {
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1, zg_read_nothing, 0, 0);
  if (response)
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
  return response;
}

#endif
