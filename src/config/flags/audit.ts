import { accepted, type Flag, type FlagTopic } from '../flag.js';

/** The log and the webhook sink take the same settings. */
const sinkFlags = (
  sink: 'log' | 'webhook',
  defaults: {
    mode: string;
    batch: readonly [size: string, wait: string, burst: string, throttle: string, qps: string];
  },
): Flag[] => [
  accepted(`audit-${sink}-batch-buffer-size`, 'int', '10000', 'batch mode: events kept before they are written'),
  accepted(`audit-${sink}-batch-max-size`, 'int', defaults.batch[0], 'batch mode: events written at once'),
  accepted(`audit-${sink}-batch-max-wait`, 'duration', defaults.batch[1], 'batch mode: how long a batch waits to fill'),
  accepted(
    `audit-${sink}-batch-throttle-burst`,
    'int',
    defaults.batch[2],
    'batch mode: batches that may go out at once',
  ),
  accepted(`audit-${sink}-batch-throttle-enable`, 'bool', defaults.batch[3], 'batch mode: limit the rate of batches'),
  accepted(`audit-${sink}-batch-throttle-qps`, 'float', defaults.batch[4], 'batch mode: batches a second'),
  accepted(`audit-${sink}-mode`, 'string', defaults.mode, 'whether a request waits for its audit event', {
    choices: ['batch', 'blocking', 'blocking-strict'],
  }),
  accepted(`audit-${sink}-truncate-enabled`, 'bool', 'false', 'shorten events and batches that are too large'),
  accepted(`audit-${sink}-truncate-max-batch-size`, 'int', '10485760', 'bytes of the largest batch'),
  accepted(`audit-${sink}-truncate-max-event-size`, 'int', '102400', 'bytes of the largest event'),
  accepted(`audit-${sink}-version`, 'string', 'audit.k8s.io/v1', 'API version of written events'),
];

export const auditFlags: FlagTopic = {
  title: 'Auditing',
  flags: [
    accepted('audit-policy-file', 'string', '', 'file that says what is audited'),
    accepted('audit-log-path', 'string', '', 'file that audit events are written to; - is standard output'),
    accepted('audit-log-format', 'string', 'json', 'form of a written event', { choices: ['json', 'legacy'] }),
    accepted('audit-log-compress', 'bool', 'false', 'compress rotated files'),
    accepted('audit-log-maxage', 'int', '0', 'days to keep rotated files'),
    accepted('audit-log-maxbackup', 'int', '0', 'rotated files to keep'),
    accepted('audit-log-maxsize', 'int', '0', 'megabytes after which the file is rotated'),
    accepted('audit-webhook-config-file', 'string', '', 'kubeconfig of the audit webhook'),
    accepted('audit-webhook-initial-backoff', 'duration', '10s', 'wait before the first retry'),
    ...sinkFlags('log', { mode: 'blocking', batch: ['1', '0s', '0', 'false', '0'] }),
    ...sinkFlags('webhook', { mode: 'batch', batch: ['400', '30s', '15', 'true', '10'] }),
  ],
};
