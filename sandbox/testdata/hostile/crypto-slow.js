// A key derivation that would take hours ends with the run.
// grant: agent
// expect: limit wall
require('crypto').pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512');
