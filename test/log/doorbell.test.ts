import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Doorbell } from "../../src/log/doorbell.ts";
import { countingDb } from "../support/counting-db.ts";
import { useTestDatabase } from "../support/database.ts";
import { eventually } from "../support/relay-waiting.ts";

const database = useTestDatabase();

describe("the doorbell", () => {
  it("notifies once for appends that come close together", async () => {
    const db = countingDb(database().db);
    const doorbell = new Doorbell(db);

    for (let append = 0; append < 100; append += 1) doorbell.ring();

    await eventually(async () => expect(db.statements).toHaveLength(1));
  });

  it("notifies at most every 50 ms while appends go on, and of the last one too", async () => {
    const db = countingDb(database().db);
    const doorbell = new Doorbell(db);
    const beganAt = performance.now();

    for (let append = 0; append < 60; append += 1) {
      doorbell.ring();
      await sleep(3);
    }
    const rungBefore = db.statements.length;
    const lasted = performance.now() - beganAt;
    doorbell.ring();

    expect(rungBefore).toBeLessThanOrEqual(2 + lasted / 50);
    await eventually(async () =>
      expect(db.statements.length).toBeGreaterThan(rungBefore),
    );
    doorbell.close();
  });
});
