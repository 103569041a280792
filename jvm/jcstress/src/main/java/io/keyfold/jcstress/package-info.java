/**
 * Races of the engine as jcstress runs them: what a thread may see of what another one has written,
 * where no lock is taken to read. Sequences of phases are in core's tests; here every interleaving
 * is tried, many million times.
 */
package io.keyfold.jcstress;
