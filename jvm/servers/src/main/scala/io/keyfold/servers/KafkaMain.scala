package io.keyfold.servers

import java.io.File

/** A Kafka that obeys [[Commands]]; its address is host and port.
  *
  *   - `topic NAME PARTITIONS`: makes a topic
  *   - `send TOPIC FILE`: appends a record for each line: partition, tab, value
  */
object KafkaMain {

  /** @param args
    *   the folder that its logs are kept in
    */
  def main(args: Array[String]): Unit = {
    val kafka = new Kafka(new File(args(0)))
    try
      Commands.obey(kafka.address) {
        case List("topic", name, partitions) => kafka.createTopic(name, partitions.toInt); ""
        case List("send", topic, file)       => kafka.send(topic, new File(file)); ""
      }
    finally kafka.close()
    sys.exit(0)
  }
}
