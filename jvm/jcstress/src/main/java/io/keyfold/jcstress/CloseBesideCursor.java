package io.keyfold.jcstress;

import io.keyfold.errors.OutOfOrder;
import io.keyfold.map.arena.ArenaMap;
import io.keyfold.map.MapTxn;
import io.keyfold.map.RowCursor;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A cursor is closed, and its transaction released, while another thread goes over its rows: each
 * step shows a whole row, the end, or is refused.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "whole rows, then the end or a refusal")
@Outcome(expect = Expect.FORBIDDEN, desc = "a torn row, or one that is not there")
@State
public class CloseBesideCursor {
    private static final int ROWS = 60;
    private final ArenaMap map = Maps.create();
    private final MapTxn txn;
    private final RowCursor cursor;

    public CloseBesideCursor() {
        txn = Maps.begin(map, Maps.V0);
        for (int key = 0; key < ROWS; key++) Maps.put(txn, key, key);
        cursor = txn.scan(0);
        // Pages that only the cursor needs.
        for (int key = 0; key < ROWS; key++) Maps.put(txn, key, 100);
    }

    @Actor
    public void stepper(I_Result r) {
        r.r1 = 1;
        try {
            while (cursor.next()) {
                if (Maps.read(cursor.key()) != Maps.read(cursor.value())) r.r1 = Maps.TORN;
            }
        } catch (OutOfOrder released) {
            // As good as the end.
        }
    }

    @Actor
    public void closer() {
        cursor.close();
        txn.release();
    }

    @Arbiter
    public void look() {
        map.close();
    }
}
