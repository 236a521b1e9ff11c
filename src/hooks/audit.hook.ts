import type { FastifyInstance } from 'fastify';
import type { Auditor } from '../audit/auditor.js';
import { RequestAudit } from '../audit/request-audit.js';
import { submittedUrl } from '../connections/unusual-requests.js';
import type { TimerWheel } from '../std/timer-wheel.js';

interface AuditHookOptions {
  readonly auditor: Auditor;
  readonly wheel: TimerWheel;
  /** Time after which a request whose client has disconnected is recorded without its outcome. */
  readonly outcomeTimeoutMs: number;
}

/**
 * Prepares the audit events of every request. The guard of the audit log decides which ones are recorded, once the user is
 * known; a request whose authentication fails is recorded without it.
 */
export function registerAudit(server: FastifyInstance, { auditor, wheel, outcomeTimeoutMs }: AuditHookOptions): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const { kube, raw } = request;
    const audit = new RequestAudit(auditor, kube, {
      url: submittedUrl(raw),
      headers: raw.headers,
      peer: raw.socket.remoteAddress,
    });
    kube.audit = audit;
    kube.whenEnded(() => {
      if (audit.isStream) audit.ended();
      if (audit.isComplete) return;
      // A write goes on when its client has left: its outcome is recorded when it is known.
      auditor.undecided.add(audit);
      wheel.after(outcomeTimeoutMs, () => {
        auditor.undecided.delete(audit);
        audit.ended();
      });
    });
    done();
  });
}
