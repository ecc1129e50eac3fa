vcl 4.1;

# A shared cache in front of several servers of one library, like nginx-edge.conf. Varnish removes images by surrogate key
# itself (Debian's packages varnish and varnish-modules, for xkey). Start each server with
# `--purge-url http://THIS-MACHINE:6081/ --purge-key-file KEY --base-url https://images.example.org --host ITS-ADDRESS
# --trusted-proxy THIS-ADDRESS,127.0.0.1`. Copy the same key to this machine
# (`install -m 640 -g varnish KEY /etc/varnish/ziggurat-edge-key`), and start Varnish with
# `varnishd -f varnish.vcl -a :6081 -p feature=+http2 -p http_resp_hdr_len=16k -s file,/var/cache/varnish/tiles,50G`.
# Put a proxy for TLS in front: nginx or hitch for HTTP/2, Caddy for HTTP/3, too.

import directors;
import std;
import xkey;

probe health {
  .url = "/healthz";
  .interval = 2s;
  .timeout = 1s;
  .window = 3;
  .threshold = 2;
  .initial = 2;
}

# Whether a server accepts changes.
probe writer {
  .request = "GET /healthz HTTP/1.1" "Host: localhost" "Connection: close" "Ziggurat-Require-Writer: ?1";
  .interval = 1s;
  .timeout = 1s;
  .window = 1;
  .threshold = 1;
  .initial = 1;
}

backend one { .host = "10.0.0.11"; .port = "8080"; .probe = health; .connect_timeout = 2s; }
backend two { .host = "10.0.0.12"; .port = "8080"; .probe = health; .connect_timeout = 2s; }
backend three { .host = "10.0.0.13"; .port = "8080"; .probe = health; .connect_timeout = 2s; }

backend one_writes { .host = "10.0.0.11"; .port = "8080"; .probe = writer; .connect_timeout = 2s; }
backend two_writes { .host = "10.0.0.12"; .port = "8080"; .probe = writer; .connect_timeout = 2s; }
backend three_writes { .host = "10.0.0.13"; .port = "8080"; .probe = writer; .connect_timeout = 2s; }

# Addresses that may purge images, with the servers' key. The address alone proves nothing: behind a program that relays the
# bytes of TLS connections, every visitor has the address of that program.
acl servers {
  "127.0.0.1";
  "10.0.0.11";
  "10.0.0.12";
  "10.0.0.13";
}

sub vcl_init {
  new servers_by_image = directors.shard();
  servers_by_image.add_backend(one);
  servers_by_image.add_backend(two);
  servers_by_image.add_backend(three);
  servers_by_image.reconfigure();
  new writer_of_all = directors.fallback();
  writer_of_all.add_backend(one_writes);
  writer_of_all.add_backend(two_writes);
  writer_of_all.add_backend(three_writes);
}

sub vcl_recv {
  # Absolute-form (RFC 9112, section 3.2.2): the authority replaces Host, and the path is the target. Otherwise each
  # authority would make another path with copies of its own, and /metrics would be reachable.
  if (req.url ~ "(?i)^https?://[^/?#@]+") {
    set req.http.Host = regsub(req.url, "(?i)^https?://([^/?#]+).*$", "\1");
    set req.url = regsub(req.url, "(?i)^https?://[^/?#]+/?", "/");
  }
  if (req.url !~ "^/" && !(req.method == "OPTIONS" && req.url == "*")) {
    return (synth(400));
  }
  if (req.method == "PURGE") {
    # Varnish itself adds one address. The file is read once: a new key requires a restart.
    if (client.ip !~ servers || req.http.X-Forwarded-For ~ "," || req.http.Forwarded
        || req.http.Ziggurat-Edge-Key !~ "^[0-9a-f]{64}$"
        || req.http.Ziggurat-Edge-Key != regsub(std.fileread("/etc/varnish/ziggurat-edge-key"), "\s+$", "")) {
      return (synth(403));
    }
    set req.http.forgotten = xkey.purge(req.http.xkey-purge);
    return (synth(200, req.http.forgotten + " removed"));
  }
  if (req.url ~ "^/(m|%6d|%6D)(e|%65)(t|%74)(r|%72)(i|%69)(c|%63)(s|%73)(\?|$)") {
    return (synth(403));
  }
  unset req.http.Ziggurat-Require-Writer;
  # The name of the same header in version 0.1.
  unset req.http.Ziggurat-Writer;
  unset req.http.Ziggurat-Edge-Key;
  # Requests that may change something, and those with a session or a token, go to the server that accepts changes. It has
  # the sessions.
  if ((req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") || req.http.Authorization ~ "^(?i)Bearer "
      || req.http.Cookie ~ "ziggurat-session") {
    set req.http.Ziggurat-Require-Writer = "?1";
    set req.backend_hint = writer_of_all.backend();
    return (pass);
  }
  set req.backend_hint = servers_by_image.backend(resolve=LAZY);
  # Stale responses are used only if no server can be asked; see vcl_synth.
  if (req.restarts == 0 && std.healthy(req.backend_hint)) {
    set req.grace = 0s;
  } else {
    set req.grace = 10m;
  }
  # Requests with credentials are neither answered from the cache nor stored in it.
  if (req.method == "OPTIONS" || req.http.Authorization) {
    return (pass);
  }
  # Tiles with an unusual query are not stored: `v` twice, escapes, other digits, or `download`. Otherwise anybody could
  # fill the cache with copies of one tile.
  if (req.url ~ "^/(dzi|zoomify|xyz|iiif/[23])/" && (req.url ~ "\?(.*&)?download" || req.url ~ "\?.*%"
      || req.url ~ "\?(.*&)?[vg]=" && req.url !~ "^[^?]*\?((?![vg]=)[^&]*&)*[vg]=[0-9a-f]{1,16}(&(?![vg]=)[^&]*)*$")) {
    return (pass);
  }
  unset req.http.Cookie;
  return (hash);
}

# The cache key: the path as it was sent, and for tiles only the generation (`v`, in version 0.1 `g`). The host does not count:
# servers write their --base-url into responses, and each Host header of a client would make a copy.
sub vcl_hash {
  if (req.url !~ "^/(dzi|zoomify|xyz|iiif/[23])/") {
    hash_data(req.url);
  } elsif (req.url ~ "^[^?]*\?((?![vg]=)[^&]*&)*[vg]=[0-9a-f]{1,16}(&(?![vg]=)[^&]*)*$") {
    hash_data(regsub(req.url, "^([^?]*)\?((?![vg]=)[^&]*&)*[vg]=([0-9a-f]{1,16}).*$", "\1?v=\3"));
  } else {
    hash_data(regsub(req.url, "\?.*$", ""));
  }
  return (lookup);
}

# One server gets all requests for an image, and has its data in memory. If it is missing, the next one gets them.
sub vcl_backend_fetch {
  if (bereq.http.Ziggurat-Require-Writer) {
    return (fetch);
  }
  if (bereq.url ~ "(?i)^/iip\?([^&]*&)*(FIF|DeepZoom|Zoomify|IIIF)=") {
    set bereq.http.image = regsub(bereq.url, "(?i)^/iip\?(?:[^&]*&)*(?:FIF|DeepZoom|Zoomify|IIIF)=((?:(?!_files/|\.dzi)[^/&])+).*$", "\1");
  } else {
    set bereq.http.image = regsub(bereq.url, "^/(?:iiif/presentation/[23]|iiif/[23]|api/images|[a-z]+)/((?:(?!_files/|\.dzi)[^/?])+).*$", "\1");
  }
  set bereq.backend = servers_by_image.backend(by=KEY, key=servers_by_image.key(bereq.http.image), alt=bereq.retries, resolve=NOW);
  unset bereq.http.image;
}

sub vcl_backend_response {
  set beresp.http.xkey = beresp.http.Surrogate-Key;
  # As long as the servers allow stale responses (stale-if-error).
  set beresp.grace = 10m;
  # The server is overloaded, or waits for the store or the catalog. Another one would have the same work.
  if (beresp.status == 503) {
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    set beresp.uncacheable = true;
    return (deliver);
  }
}

sub vcl_backend_error {
  if (bereq.retries < 2 && (bereq.method == "GET" || bereq.method == "HEAD")) {
    return (retry);
  }
  return (abandon);
}

sub vcl_synth {
  # If no server answers, a stored response that is not too old replaces the answer.
  if (resp.status == 503 && req.restarts == 0 && (req.method == "GET" || req.method == "HEAD")) {
    return (restart);
  }
  set resp.http.Content-Type = "text/plain";
  set resp.http.Cache-Control = "no-store";
  if (resp.status == 503) {
    set resp.http.Retry-After = "1";
  }
  synthetic(resp.reason + {"
"});
  return (deliver);
}

sub vcl_deliver {
  unset resp.http.xkey;
  unset resp.http.Surrogate-Key;
  # A header for nginx.
  unset resp.http.X-Accel-Expires;
  unset resp.http.Via;
  unset resp.http.X-Varnish;
  if (obj.hits == 0) {
    set resp.http.X-Cache = "MISS";
  } elsif (obj.ttl <= 0s) {
    set resp.http.X-Cache = "STALE";
  } else {
    set resp.http.X-Cache = "HIT";
  }
}
