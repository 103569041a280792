package io.keyfold.jcstress;

import io.keyfold.format.wire.Codec;
import io.keyfold.model.FamilySpec;
import io.keyfold.map.StateMap;
import io.keyfold.mem.Slice;
import io.keyfold.store.file.RowChecksumSettings;
import io.keyfold.store.file.SnapshotRepair;
import io.keyfold.model.StoreLocation;
import io.keyfold.store.file.StoreSettings;
import io.keyfold.store.StoreTxn;
import io.keyfold.store.StoreView;
import io.keyfold.store.VersionedStore;
import io.keyfold.testkit.MemoryBlobStore;
import java.time.Clock;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A version is read from a store while the next one is committed and it leaves memory: from there,
 * or from its file, the row is the same.
 */
@JCStressTest
@Outcome(id = "7, 8, 0", expect = Expect.ACCEPTABLE, desc = "each version has its row")
@Outcome(expect = Expect.FORBIDDEN, desc = "another row, a torn one, or none; or memory is left")
@State
public class StoreReadAndCommit {
    private static final FamilySpec FAMILY =
        new FamilySpec("f", false, false, false, "row", "unsaferow", "all", 0, 0, false, false);
    private static final StoreSettings SETTINGS = new StoreSettings(
        0, true, 1, Codec.ofName("none").get(), 100, Long.MAX_VALUE, 0.5, new SnapshotRepair(true, 1, 100),
        Option.<RowChecksumSettings>empty(), 100, 100, 100, 1, "jcstress",
        StoreSettings.LazyFromBytes());
    private static final Clock CLOCK = Clock.systemUTC();

    private final Queue<StateMap> maps = new ConcurrentLinkedQueue<>();
    private final VersionedStore store = new VersionedStore(
        new StoreLocation(0, 0, "default"), SETTINGS,
        CollectionConverters.asScala(List.of(FAMILY)).toSeq(), new MemoryBlobStore(), CLOCK,
        version -> null, work -> { }, newMap(), 1000L);

    private Function1<Object, StateMap> newMap() {
        return keyGroups -> {
            StateMap map = Maps.create();
            maps.add(map);
            return map;
        };
    }

    public StoreReadAndCommit() {
        commit(0, 7);
    }

    @Actor
    public void writer(III_Result r) {
        r.r2 = commit(1, 8);
    }

    @Actor
    public void reader(III_Result r) {
        StoreView view = store.read(Maps.V1);
        r.r1 = read(view);
        view.release();
    }

    @Arbiter
    public void close(III_Result r) {
        store.close();
        for (StateMap map : maps) r.r3 += (int) map.memory().total();
    }

    /** @return what the transaction reads once it is committed */
    private int commit(long base, int value) {
        StoreTxn txn = store.begin(base == 0 ? Maps.V0 : Maps.V1);
        txn.put(0, 0, Maps.bytes(1, Maps.LENGTH), Maps.bytes(value, Maps.LENGTH));
        txn.commit("", false);
        int read = read(txn);
        txn.release();
        return read;
    }

    private static int read(StoreView view) {
        Slice value = new Slice();
        return view.get(0, 0, Maps.bytes(1, Maps.LENGTH), value) ? Maps.read(value) : Maps.NONE;
    }
}
