import type { Method } from '../cri/messages.js';

interface Series {
  count: number;
  sum: number;
}

/** Counters of the agent, in the names of the kubelet. Their labels have few values: no name of a Pod or user. */
export class AgentMetrics {
  private readonly requests = new Map<string, Series>();
  private readonly operations = new Map<string, Series>();
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly roots: ReadonlySet<string>,
    private readonly nodeName: string,
  ) {}

  /** Counts a request. `root` is the first step of its path. */
  answered(method: string, root: string, seconds: number): void {
    const labels = `long_running="${longRunning.has(root)}",method="${methods.has(method) ? method : 'other'}",path="${
      this.roots.has(root) ? root : 'other'
    }",server_type="readwrite"`;
    add(this.requests, labels, seconds);
  }

  /** Counts a call of the container runtime. */
  called(method: Method, codeName: string, seconds: number): void {
    const type = snakeCase(method);
    add(this.operations, `operation_type="${type}"`, seconds);
    if (codeName !== 'OK') this.failures.set(type, (this.failures.get(type) ?? 0) + 1);
  }

  /** Returns the metrics in the text format of Prometheus. */
  text(startSeconds: number): string {
    const lines = [
      ...family('kubelet_node_name', 'gauge', 'The node name. The value is always 1.', [
        [`node="${this.nodeName}"`, 1],
      ]),
      ...summary('kubelet_http_requests', 'HTTP requests', this.requests),
      ...summary('kubelet_runtime_operations', 'Operations of the container runtime', this.operations),
      ...family(
        'kubelet_runtime_operations_errors_total',
        'counter',
        'Failed operations of the container runtime.',
        [...this.failures].map(([type, count]) => [`operation_type="${type}"`, count] as const),
      ),
      ...processMetrics(startSeconds),
    ];
    return `${lines.join('\n')}\n`;
  }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const longRunning: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward', 'debug']);

/** Returns the lines of one metric; none without values. */
export function family(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: string, value: number, timestampMs?: number])[],
): string[] {
  if (values.length === 0) return [];
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(([labels, value, timestampMs]) => {
      const time = timestampMs === undefined ? '' : ` ${Math.round(timestampMs)}`;
      return `${name}${labels === '' ? '' : `{${labels}}`} ${value}${time}`;
    }),
  ];
}

/** Returns the value of a label, quoted. */
export function label(name: string, value: string): string {
  return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** Lines that every set of metrics of the agent has, about its process. */
function processMetrics(startSeconds: number): string[] {
  const { user, system } = process.cpuUsage();
  return [
    ...family('process_cpu_seconds_total', 'counter', 'Total user and system CPU time spent in seconds.', [
      ['', (user + system) / 1e6],
    ]),
    ...family('process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.', [
      ['', process.memoryUsage.rss()],
    ]),
    ...startTime(startSeconds),
  ];
}

export function startTime(startSeconds: number): string[] {
  const help = 'Start time of the process since unix epoch in seconds.';
  return family('process_start_time_seconds', 'gauge', help, [['', startSeconds]]);
}

function summary(name: string, what: string, series: ReadonlyMap<string, Series>): string[] {
  const counts = [...series].map(([labels, { count }]) => [labels, count] as const);
  const duration = `${name}_duration_seconds`;
  if (series.size === 0) return [];
  return [
    ...family(`${name}_total`, 'counter', `${what}.`, counts),
    `# HELP ${duration} Duration of ${what.toLowerCase()} in seconds.`,
    `# TYPE ${duration} summary`,
    ...[...series].flatMap(([labels, { count, sum }]) => [
      `${duration}_sum{${labels}} ${sum}`,
      `${duration}_count{${labels}} ${count}`,
    ]),
  ];
}

function add(series: Map<string, Series>, labels: string, seconds: number): void {
  const known = series.get(labels);
  if (!known) series.set(labels, { count: 1, sum: seconds });
  else {
    known.count++;
    known.sum += seconds;
  }
}

const snakeCase = (name: string) =>
  name.replace(/[A-Z]/g, (letter, at: number) => `${at > 0 ? '_' : ''}${letter.toLowerCase()}`);
