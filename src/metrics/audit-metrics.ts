import type { AuditLevel } from '../audit/audit-policy.js';
import type { AuditObserver, LossSource } from '../audit/audit-sink.js';
import { family, single, type MetricFamily } from './metric-family.js';

/** Metrics of the audit log, as in kube-apiserver. */
export class AuditMetrics implements AuditObserver {
  private events = 0;
  private rejections = 0;
  private readonly levels = new Map<AuditLevel, number>();
  private readonly losses = new Map<LossSource, number>();

  decided(level: AuditLevel): void {
    this.levels.set(level, (this.levels.get(level) ?? 0) + 1);
  }

  recorded(): void {
    this.events++;
  }

  lost(source: LossSource, events: number): void {
    this.losses.set(source, (this.losses.get(source) ?? 0) + events);
  }

  rejected(): void {
    this.rejections++;
  }

  families(): MetricFamily[] {
    return [
      single('apiserver_audit_event_total', 'counter', '[ALPHA] Audit events that were created.', () => this.events),
      family(
        'apiserver_audit_error_total',
        'counter',
        '[ALPHA] Audit events that were lost, by the sink or the step that lost them.',
        () => [...this.losses].map(([plugin, value]) => ({ labels: { plugin }, value })),
      ),
      family('apiserver_audit_level_total', 'counter', '[ALPHA] Requests, by the level of the audit policy.', () =>
        [...this.levels].map(([level, value]) => ({ labels: { level }, value })),
      ),
      single(
        'apiserver_audit_requests_rejected_total',
        'counter',
        '[ALPHA] Requests that were refused because they could not be recorded in the audit log.',
        () => this.rejections,
      ),
    ];
  }
}
