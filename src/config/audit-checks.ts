import type { AuditSinkConfig } from './audit-config.js';
import type { ServerConfig } from './server-config.js';

/** Returns errors about settings of sinks that are in use, as kube-apiserver checks them. */
export function auditErrors({ audit }: ServerConfig): string[] {
  return [
    ...(audit.log.path === undefined ? [] : sinkErrors('log', audit.log)),
    ...(audit.webhook.configFile === undefined ? [] : sinkErrors('webhook', audit.webhook)),
  ];
}

/** Returns warnings about sinks that get no events. */
export function auditWarnings({ audit }: ServerConfig): { flag: string; message: string }[] {
  if (audit.policyFile !== undefined) {
    if (audit.log.path !== undefined || audit.webhook.configFile !== undefined) return [];
    const message = '--audit-policy-file has no effect without --audit-log-path or --audit-webhook-config-file';
    return [{ flag: 'audit-policy-file', message }];
  }
  const given = {
    'audit-log-path': audit.log.path,
    'audit-webhook-config-file': audit.webhook.configFile,
  };
  return Object.entries(given).flatMap(([flag, value]) =>
    value === undefined ? [] : [{ flag, message: `--${flag} has no effect without --audit-policy-file` }],
  );
}

function sinkErrors(sink: 'log' | 'webhook', config: AuditSinkConfig): string[] {
  const errors: string[] = [];
  const { batch } = config;
  const requirePositive = (flag: string, value: number) => {
    if (value <= 0) errors.push(`--audit-${sink}-${flag}: must be more than 0`);
  };
  if (config.mode === 'batch') {
    requirePositive('batch-buffer-size', batch.eventsWaitingMax);
    requirePositive('batch-max-size', batch.eventsMax);
    if (batch.isThrottled) {
      requirePositive('batch-throttle-qps', batch.batchesPerSecond);
      requirePositive('batch-throttle-burst', batch.burst);
    }
  }
  requirePositive('truncate-max-event-size', config.eventBytesMax);
  if (config.batchBytesMax < config.eventBytesMax) {
    errors.push(`--audit-${sink}-truncate-max-batch-size: must not be below --audit-${sink}-truncate-max-event-size`);
  }
  return errors;
}
