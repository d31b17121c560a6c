// Comments of HTML, which scripts have and modules have not.
// expect: any
var x = 1, y = 3;
var z = y <!--x;
--> this is a comment where the line above is one
return z;
