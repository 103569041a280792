package io.keyfold

/** Duty: what tests of all packages share; may import any package of core. */
package object testkit
