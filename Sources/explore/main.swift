// Begins here.
