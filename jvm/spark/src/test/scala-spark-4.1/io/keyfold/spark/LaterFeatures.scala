package io.keyfold.spark

/** What this line lacks, and what it has beyond 4.0. */
object LaterFeatures extends FeaturesSince41 with FeaturesSince42
