import { deserialize, serialize } from 'node:v8';
import { AuditEvent, type EventFields } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-sink.js';
import type { Channel } from './channel.js';
import { messageKinds as kinds } from './message-kinds.js';

/** Passes events on to the process with the store, which alone writes the audit log and calls the webhook. */
export class RemoteAuditSink implements AuditSink {
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    private readonly channel: Channel,
    /** False if requests do not wait until their events are written. */
    private readonly waits: boolean,
  ) {}

  process(events: readonly AuditEvent[]): true | Promise<boolean> {
    const written = this.channel
      .call(kinds.audit, (frame) => frame.data(serialize(events.map(({ fields }) => fields))))
      .then(
        (body) => body.byte() === 1,
        () => false,
      );
    this.running.add(written);
    void written.then(() => this.running.delete(written));
    return this.waits ? written : true;
  }

  async close(): Promise<void> {
    await Promise.all(this.running);
  }

  abandon(): void {
    // The process with the store gives up events when it stops.
  }
}

/** Takes the events of a worker. */
export function hostAudit(sink: AuditSink, channel: Channel): void {
  channel.answer(kinds.audit, async (body) => {
    const events = (deserialize(body.data()) as EventFields[]).map((fields) => new AuditEvent(fields));
    const isWritten = await sink.process(events);
    return (frame) => frame.byte(isWritten ? 1 : 0);
  });
}
