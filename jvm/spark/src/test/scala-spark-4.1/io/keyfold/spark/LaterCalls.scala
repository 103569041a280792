package io.keyfold.spark

/** The methods of later lines. */
trait LaterCalls extends CallsSince42
