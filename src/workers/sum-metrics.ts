/** The way in which values of a series in several processes become that of the server. */
type Rule = 'sum' | 'max' | 'min' | 'first';

/** Gauges, and counters of what each process does with the same events, that are not summed. The first match applies. */
const rules: readonly (readonly [name: RegExp, rule: Rule])[] = [
  // Every process holds the same objects, and gets each event of the store once.
  [/^(apiserver_resource_objects|apiserver_storage_objects|apiserver_resource_size_)/, 'first'],
  [/^(apiserver_watch_cache_events_|apiserver_watch_cache_init|apiserver_init_events|watch_cache_capacity)/, 'first'],
  [
    /^(node_collector_|aggregator_unavailable_apiservice|kubernetes_(build_info|feature_enabled)|version_info)/,
    'first',
  ],
  [/_info$/, 'first'],
  [/^process_max_fds$/, 'first'],
  [/^(kubernetes_healthcheck|process_start_time_seconds|nodejs_eventloop_lag_min_seconds)$/, 'min'],
  [/^(nodejs_eventloop_|apiserver_requested_deprecated_apis)/, 'max'],
  [/^(apiserver_watch_cache_resource_version|.*_timestamp_seconds)$/, 'max'],
  [/^apiserver_flowcontrol_(seat_fair_frac|.*_r|latest_s|next_.*|demand_seats_.*)$/, 'max'],
];

interface Family {
  readonly name: string;
  /** Lines that begin with #. */
  readonly head: string[];
  readonly rule: Rule;
  readonly values: Map<string, number>;
}

const ruleOf = (name: string): Rule => rules.find(([pattern]) => pattern.test(name))?.[1] ?? 'sum';

/** Returns the metrics of a server from those of its processes, of which the first has the store. */
export function sumMetrics(pages: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const [index, page] of pages.entries()) addPage(families, page, index === 0);
  let text = '';
  for (const { head, values } of families.values()) {
    text += head.join('');
    for (const [series, value] of values) text += `${series} ${numberText(value)}\n`;
  }
  return text;
}

function addPage(families: Map<string, Family>, page: string, isFirst: boolean): void {
  let family: Family | undefined;
  let isNew = false;
  for (const line of page.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const name = line.split(' ', 3)[2]!;
      if (family?.name !== name) {
        family = families.get(name);
        isNew = !family;
        if (!family) families.set(name, (family = { name, head: [], rule: ruleOf(name), values: new Map() }));
      }
      if (isNew) family.head.push(`${line}\n`);
      continue;
    }
    const end = line.lastIndexOf(' ');
    if (family) addValue(family, line.slice(0, end), valueOf(line.slice(end + 1)), isFirst);
  }
}

function addValue({ rule, values }: Family, series: string, value: number, isFirst: boolean): void {
  const known = values.get(series);
  if (known === undefined) {
    if (isFirst || rule !== 'first' || values.size === 0) values.set(series, value);
  } else if (rule === 'sum') values.set(series, known + value);
  else if (rule === 'max') values.set(series, Math.max(known, value));
  else if (rule === 'min') values.set(series, Math.min(known, value));
}

const valueOf = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
