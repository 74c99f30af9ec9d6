//! MySQL client/server packets <-> typed commands and rows; handshake and authentication exchange.
