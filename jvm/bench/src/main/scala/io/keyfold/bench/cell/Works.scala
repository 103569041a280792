package io.keyfold.bench.cell

/** The operations by their names. */
object Works {
  def of(job: Job): Work = job.operation match {
    case "put-overwrite"       => new PutOverwrite(job)
    case "put-new"             => new PutNew(job)
    case "get"                 => new Get(job)
    case "read-modify-write"   => new ReadModifyWrite(job)
    case "remove"              => new Remove(job)
    case "scan"                => new Scan(job)
    case "evict"               => new Evict(job)
    case "prefix-scan"         => new PrefixScan(job)
    case "range-scan"          => new RangeScan(job)
    case "append"              => new Append(job)
    case "open-commit"         => new OpenCommit(job)
    case "load"                => new Load(job)
    case "memory"              => new Memory(job)
    case "spill"               => new Spill(job)
    case "longest-put"         => new LongestPut(job)
    case "upkeep-100"          => new Upkeep(job, 100)
    case "upkeep-1000"         => new Upkeep(job, 1000)
    case "upkeep-10000"        => new Upkeep(job, 10000)
    case "put-during-snapshot" => new PutDuringSnapshot(job)
    case "streaming-count"     => new StreamingCount(job)
    case "rescale"             => new Rescale(job)
    case "rewrite"             => new Rewrite(job)
    case other                 => throw new IllegalArgumentException(s"Invalid operation: $other")
  }
}
