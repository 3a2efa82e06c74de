"""A session's messages: a durable spool, its socket, and who sends."""
