package io.keyfold.jcstress;

import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import io.keyfold.map.MapView;
import io.keyfold.mem.Slice;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * The rows of a version are found through the table of page addresses while a transaction makes
 * that grow: by a view from before, and by one that is pinned meanwhile.
 */
@JCStressTest
@Outcome(id = "7, 7, 0", expect = Expect.ACCEPTABLE, desc = "the version's row, whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "another row, a torn one, or memory is left")
@State
public class ReadWhileTableGrows {
    private final ArenaMap map = Maps.create();
    private final MapView before;

    public ReadWhileTableGrows() {
        Maps.commit(map, Maps.V0, Maps.V1, 1, 7);
        before = map.pin(Maps.V1);
    }

    /** Each size takes a page of its own; the table has room for 16 at first. */
    @Actor
    public void writer() {
        MapTxn txn = Maps.begin(map, Maps.V1);
        for (int i = 0; i < 18; i++) Maps.put(txn, 1, 8 + i, 2048 + i * 2048);
        txn.abort();
        txn.release();
    }

    @Actor
    public void reader(III_Result r) {
        Slice value = new Slice();
        before.get(0, 1, Maps.bytes(1, Maps.LENGTH), value);
        r.r2 = Maps.pinAndRead(map, Maps.V1, 1);
        r.r1 = Maps.read(before, 1) == Maps.read(value) ? Maps.read(value) : Maps.TORN;
    }

    @Arbiter
    public void close(III_Result r) {
        before.release();
        map.close();
        r.r3 = (int) map.memory().total();
    }
}
