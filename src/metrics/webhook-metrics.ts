import type { WebhookObserver } from '../auth/webhook/post-review.js';
import type { CertificateFlaw } from '../kubeconfig-client/connection-error.js';
import { single, type MetricFamily } from './metric-family.js';

/** Metrics of the calls of webhooks. */
export class WebhookMetrics implements WebhookObserver {
  private readonly refused: Record<CertificateFlaw, number> = { 'missing SAN': 0, 'SHA-1': 0 };

  refusedCertificate(flaw: CertificateFlaw): void {
    this.refused[flaw]++;
  }

  families(): MetricFamily[] {
    return [
      single(
        'apiserver_webhooks_x509_missing_san_total',
        'counter',
        '[ALPHA] Connections to webhooks that failed because their certificate has no subjectAltName.',
        () => this.refused['missing SAN'],
      ),
      single(
        'apiserver_webhooks_x509_insecure_sha1_total',
        'counter',
        '[ALPHA] Connections to webhooks that failed because their certificate is signed with SHA-1.',
        () => this.refused['SHA-1'],
      ),
    ];
  }
}
