// Words that are names in some functions and operators in others, before what may be a regular expression.
// expect: value [4,2,"g"]
var g = 4, yield_ = 1;
function plain() { var await_ = 8; var yield = 8, x = 2; return yield /x/g*g*g/4; }
function other() { var of = 8, a = 4; return of /a/1; }
function* gen() { return yield /g/g; }
const it = gen();
return [plain(), other(), it.next().value.flags];
