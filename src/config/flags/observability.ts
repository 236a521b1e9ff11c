import { accepted, used, type FlagTopic } from '../flag.js';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export const metricsFlags: FlagTopic = {
  title: 'Metrics',
  flags: [
    accepted('allow-metric-labels', 'map', '', 'allowed values of metric labels'),
    accepted('allow-metric-labels-manifest', 'string', '', 'file with allowed values of metric labels'),
    accepted('disabled-metrics', 'list', '', 'metrics to disable'),
    used(
      'show-hidden-metrics-for-version',
      'string',
      '',
      'showHiddenMetricsForVersion',
      'previous release; shows metrics that are hidden because they were deprecated three or more releases ago',
    ),
  ],
};

export const logFlags: FlagTopic = {
  title: 'Logs',
  flags: [
    used('log-level', 'string', 'info', 'log.level', 'minimum severity of logged lines', { choices: logLevels }),
    used('v', 'int', '0', 'log.verbosity', 'log verbosity; 4 and above set --log-level=debug'),
    accepted('log-flush-frequency', 'duration', '5s', 'interval at which the log is flushed'),
    accepted('log-json-info-buffer-size', 'string', '0', 'JSON logs: size of the buffer in bytes'),
    accepted(
      'log-json-split-stream',
      'bool',
      'false',
      'JSON logs: errors to standard error, the rest to standard output',
    ),
    accepted('log-text-info-buffer-size', 'string', '0', 'text logs: size of the buffer in bytes'),
    accepted(
      'log-text-split-stream',
      'bool',
      'false',
      'text logs: errors to standard error, the rest to standard output',
    ),
    accepted('logging-format', 'string', 'text', 'format of log lines; this server always writes JSON', {
      choices: ['text', 'json'],
    }),
    accepted('vmodule', 'map', '', 'verbosity by source file'),
  ],
};

export const traceFlags: FlagTopic = {
  title: 'Traces',
  flags: [
    used(
      'tracing-config-file',
      'string',
      '',
      'tracing.configFile',
      'TracingConfiguration file; sampled requests are exported to an OpenTelemetry collector (OTLP over gRPC)',
    ),
  ],
};
