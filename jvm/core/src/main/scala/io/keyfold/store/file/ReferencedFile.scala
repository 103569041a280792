package io.keyfold.store.file

import io.keyfold.format.{FileReference, Footer, Layer, Manifest, PlanName}
import io.keyfold.group.PartitionSet
import io.keyfold.io.BlobStore

/** A file that a reference takes rows from.
  *
  * @param taken
  *   a row is taken if every one of these sets has it
  */
private[store] final case class ReferencedFile(file: FileReference, taken: Seq[PartitionSet])

private[store] object ReferencedFile {

  /** The files of a reference, in the order to apply them: docs/FORMAT.md, section 11.
    *
    * @param reference
    *   its footer
    * @throws java.io.FileNotFoundException
    *   if its manifest does not exist
    * @throws io.keyfold.errors.CorruptFile
    *   if the manifest is damaged
    */
  def of(blobs: BlobStore, reference: Footer): IndexedSeq[ReferencedFile] = {
    val manifest = Manifest.open(blobs, PlanName.of(reference).manifest)
    try of(reference.references.get.parts.map(manifest.read), reference)
    finally manifest.close()
  }

  private def of(layers: Seq[Layer], reference: Footer): IndexedSeq[ReferencedFile] = {
    val identity = reference.identity
    val groups = identity.keyGroups
    val own = new PartitionSet(identity.partitions, groups, Seq(identity.partition))
    val (all, _) = layers.foldRight((IndexedSeq.empty[ReferencedFile], Seq(own))) {
      case (layer, (newer, taken)) =>
        val files = layer.members.flatMap(_.files).map(ReferencedFile(_, taken))
        (files.toIndexedSeq ++ newer, taken ++ onTop(layer, groups))
    }
    all
  }

  /** The rows that layers below this one provide. */
  private def onTop(layer: Layer, groups: Int): Option[PartitionSet] = {
    val members = layer.members.filter(_.isOnTop).map(_.partition)
    Option.when(members.length < layer.members.length) {
      new PartitionSet(layer.partitions, groups, members)
    }
  }
}
