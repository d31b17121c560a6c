// An endless loop that catches whatever is thrown at it.
// expect: limit wall
for (;;) { try { for (;;) {} } catch (e) {} finally { continue; } }
