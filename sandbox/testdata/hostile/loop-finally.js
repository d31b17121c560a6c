// A finally block that never gives control back.
// expect: limit wall
function again() { try { again(); } finally { for (;;) {} } }
again();
