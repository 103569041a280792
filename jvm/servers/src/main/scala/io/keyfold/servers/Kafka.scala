package io.keyfold.servers

import java.io.{ByteArrayOutputStream, File, PrintStream}
import java.net.ServerSocket
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.{List => JList, Properties}

import scala.jdk.CollectionConverters._

import kafka.server.{KafkaConfig, KafkaRaftServer}
import kafka.tools.StorageTool
import org.apache.kafka.clients.admin.{Admin, NewTopic}
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.Uuid
import org.apache.kafka.common.serialization.StringSerializer
import org.apache.kafka.common.utils.Time

/** A Kafka of one broker on free ports of this machine, in this process.
  *
  * @param folder
  *   its logs; empty or not there
  */
final class Kafka(folder: File) {
  private val ports = freePorts(2)

  /** For `kafka.bootstrap.servers`. */
  val address: String = s"localhost:${ports.head}"

  private val properties = Map(
    "process.roles" -> "broker,controller",
    "node.id" -> "1",
    "controller.quorum.voters" -> s"1@localhost:${ports.last}",
    "listeners" -> s"PLAINTEXT://$address,CONTROLLER://localhost:${ports.last}",
    "controller.listener.names" -> "CONTROLLER",
    "log.dirs" -> folder.getPath,
    "offsets.topic.replication.factor" -> "1",
    "transaction.state.log.replication.factor" -> "1",
    "transaction.state.log.min.isr" -> "1",
    // A topic is made in an instant, and so are its files.
    "log.cleaner.enable" -> "false"
  )

  private val server = {
    format()
    val settings = new Properties
    properties.foreach { case (name, value) => settings.setProperty(name, value) }
    new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM)
  }
  server.startup()

  private val clients = Map[String, AnyRef]("bootstrap.servers" -> address)
  private val admin = Admin.create(clients.asJava)
  private val producer = new KafkaProducer(
    // A new topic is there before its leader. Of two requests on their way, it can then refuse the
    // first and take the second; after that, it refuses the first for ever, as out of order.
    (clients + ("max.in.flight.requests.per.connection" -> "1")).asJava,
    new StringSerializer,
    new StringSerializer
  )

  def createTopic(name: String, partitions: Int): Unit = {
    admin.createTopics(JList.of(new NewTopic(name, partitions, 1.toShort))).all().get()
    ()
  }

  /** Appends records to a topic, and returns when they are there.
    *
    * @param file
    *   a line each: the partition, a tab, the value
    */
  def send(topic: String, file: File): Unit = {
    val sent = Files.readAllLines(file.toPath, UTF_8).asScala.toSeq.map { line =>
      val tab = line.indexOf('\t'.toInt)
      val partition = Int.box(line.take(tab).toInt)
      producer.send(new ProducerRecord(topic, partition, null: String, line.drop(tab + 1)))
    }
    producer.flush()
    sent.foreach(_.get())
  }

  def close(): Unit = {
    producer.close()
    admin.close()
    server.shutdown()
  }

  private def format(): Unit = {
    val file = File.createTempFile("kafka", ".properties")
    Files.write(file.toPath, properties.map { case (it, value) => s"$it=$value" }.toSeq.asJava)
    val said = new ByteArrayOutputStream
    val arguments =
      Array("format", "--cluster-id", Uuid.randomUuid.toString, "--config", file.getPath)
    if (StorageTool.execute(arguments, new PrintStream(said)) != 0)
      throw new IllegalStateException(said.toString(UTF_8))
    file.delete()
    ()
  }

  private def freePorts(count: Int): Seq[Int] = {
    val sockets = Seq.fill(count)(new ServerSocket(0))
    try sockets.map(_.getLocalPort)
    finally sockets.foreach(_.close())
  }
}
