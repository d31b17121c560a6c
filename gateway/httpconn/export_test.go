package httpconn

// Unwatched is how long a request goes without being watched.
const Unwatched = unwatched
