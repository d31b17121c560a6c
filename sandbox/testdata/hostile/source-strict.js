// A directive that the code's surroundings must not swallow.
// expect: error SyntaxError
'use strict';
with ({}) {}
