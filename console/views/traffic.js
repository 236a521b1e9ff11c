import { tryJson } from '../api/json.js';
import { bucketsOf, dumpedTable, quantile, samplesOf, sumBy } from '../model/metrics-text.js';
import { lineChart, seatBar } from '../ui/charts.js';
import { fill, h } from '../ui/dom.js';

const intervalMs = 2_000;
const pointsMax = 90;
const names = {
  requests: 'apiserver_request_total',
  latency: 'apiserver_request_duration_seconds_bucket',
  inFlight: 'apiserver_current_inflight_requests',
  watches: 'apiserver_longrunning_requests',
  memory: 'process_resident_memory_bytes',
  limits: 'apiserver_flowcontrol_nominal_limit_seats',
  executing: 'apiserver_flowcontrol_current_executing_seats',
};
const shownVerbs = ['GET', 'LIST', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Request rates, latencies and flow control, from /metrics and the dumps of priority and fairness. */
export class TrafficView {
  #before;
  #refusals = new Map();
  #rates = new Map(shownVerbs.map((verb) => [verb, []]));
  #latencies = new Map([['p50', []], ['p99', []]]); // prettier-ignore

  constructor(context) {
    this.context = context;
    this.numbers = h('div', { class: 'numbers' });
    this.rates = h('div', { class: 'chart-box' });
    this.latencies = h('div', { class: 'chart-box' });
    this.levels = h('div', {});
    this.codes = h('div', {});
    this.faults = h('div', {});
    this.notice = h('p', { class: 'notice', hidden: true, role: 'alert' });
    const card = (title, ...content) => h('section', { class: 'card' }, h('h2', {}, title), content);
    this.element = h(
      'div',
      { class: 'page' },
      h('h1', { class: 'view-title' }, 'Traffic'),
      this.notice,
      this.numbers,
      h(
        'div',
        { class: 'cards' },
        card('Requests per second', this.rates),
        card('Latency', this.latencies),
        card('Priority levels', this.levels),
        card('Answers by code', this.codes),
        (this.faultCard = card('Faults on purpose', this.faults)),
      ),
    );
    this.faultCard.hidden = true;
    void this.#read();
    this.clock = setInterval(() => void this.#read(), intervalMs);
  }

  stop() {
    this.isStopped = true;
    clearInterval(this.clock);
  }

  routed() {
    return true;
  }

  async #read() {
    if (this.isReading || document.hidden) return;
    this.isReading = true;
    try {
      const [metrics, levels, faults] = await Promise.all(
        [
          '/metrics',
          '/debug/api_priority_and_fairness/dump_priority_levels',
          // Most servers have no fault plan.
          '/debug/faults',
        ].map((path) => this.#text(path)),
      );
      if (this.isStopped) return;
      const failed = [...new Set([metrics.problem, levels.problem].filter(Boolean))];
      this.notice.hidden = failed.length === 0;
      fill(this.notice, failed.join('\n'));
      this.context.setState(failed.length === 0 ? 'live' : 'failed', failed.join('\n'));
      const samples = metrics.text === undefined ? undefined : samplesOf(metrics.text, Object.values(names));
      if (samples) this.#drawMetrics(samples);
      if (levels.text !== undefined) this.#drawLevels(dumpedTable(levels.text), samples);
      const counts = tryJson(faults.text ?? '');
      this.faultCard.hidden = !Array.isArray(counts?.rules);
      if (!this.faultCard.hidden) fill(this.faults, faultTable(counts));
    } finally {
      this.isReading = false;
    }
  }

  /** Reads a text, or returns the problem. What is refused or unknown is not asked for again. */
  async #text(path) {
    const refusal = this.#refusals.get(path);
    if (refusal !== undefined) return { problem: refusal };
    try {
      return { text: await this.context.connection.text(path, { accept: 'text/plain, application/json' }) };
    } catch (error) {
      if (error.status === 403 || error.status === 404) this.#refusals.set(path, error.message);
      return { problem: error.message };
    }
  }

  #drawMetrics(samples) {
    const now = {
      at: performance.now(),
      verbs: sumBy(samples.get(names.requests), 'verb'),
      buckets: bucketsOf(samples.get(names.latency), ({ verb }) => verb !== 'WATCH' && verb !== 'CONNECT'),
    };
    // Counts that went down are those of a server that was started anew.
    const isSame = [...(this.#before?.verbs ?? [])].every(([verb, count]) => (now.verbs.get(verb) ?? 0) >= count);
    const before = isSame ? this.#before : undefined;
    this.#before = now;
    if (before) {
      const seconds = (now.at - before.at) / 1000;
      for (const verb of shownVerbs) {
        const count = (now.verbs.get(verb) ?? 0) - (before.verbs.get(verb) ?? 0);
        push(this.#rates.get(verb), Math.max(0, count) / seconds);
      }
      push(this.#latencies.get('p50'), quantile(before.buckets, now.buckets, 0.5));
      push(this.#latencies.get('p99'), quantile(before.buckets, now.buckets, 0.99));
    }
    const seriesOf = (map) => [...map].map(([name, values]) => ({ name, values: padded(values) }));
    const seconds = ((pointsMax - 1) * intervalMs) / 1000;
    const rates = seriesOf(this.#rates);
    fill(
      this.rates,
      lineChart({ title: 'Requests per second', series: rates, format: rateText, seconds }),
      legend(rates, rateText),
    );
    const latencies = seriesOf(this.#latencies);
    fill(
      this.latencies,
      lineChart({ title: 'Latency', series: latencies, format: durationText, seconds }),
      legend(latencies, durationText),
    );
    const sum = (name) => samples.get(name).reduce((all, { value }) => all + value, 0);
    const total = [...this.#rates.values()].reduce((all, values) => all + (values.at(-1) ?? 0), 0);
    const number = (name, value) =>
      h('div', { class: 'number' }, h('span', { class: 'number-value' }, value), h('span', { class: 'muted' }, name));
    fill(
      this.numbers,
      number('requests per second', rateText(total)),
      number('in flight', String(sum(names.inFlight))),
      number('watches and streams', String(sum(names.watches))),
      number('resident memory', `${(sum(names.memory) / 2 ** 20).toFixed(0)} MiB`),
    );
    this.#drawCodes(sumBy(samples.get(names.requests), 'code'));
  }

  #drawCodes(codes) {
    const toneOf = (code) => (code >= '500' ? 'bad' : code >= '400' ? 'wait' : 'good');
    fill(
      this.codes,
      h(
        'table',
        { class: 'table' },
        h(
          'tbody',
          {},
          [...codes]
            .sort()
            .map(([code, count]) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, h('span', { class: 'badge', 'data-tone': toneOf(code) }, code)),
                h('td', { class: 'right mono' }, count.toLocaleString()),
              ),
            ),
        ),
      ),
    );
  }

  #drawLevels(levels, samples) {
    const limits = samples ? sumBy(samples.get(names.limits), 'priority_level') : new Map();
    const seats = samples ? sumBy(samples.get(names.executing), 'priority_level') : new Map();
    const head = ['Level', 'Seats', 'Executing', 'Waiting', 'Dispatched', 'Rejected'];
    fill(
      this.levels,
      h(
        'table',
        { class: 'table levels' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            head.map((name) => h('th', { scope: 'col' }, name)),
          ),
        ),
        h(
          'tbody',
          {},
          levels.map((level) => {
            const name = level.PriorityLevelName ?? '';
            const executing = seats.get(name) ?? Number(level.ExecutingRequests) ?? 0;
            const waiting = Number(level.WaitingRequests) || 0;
            const limit = limits.get(name) ?? 0;
            const label = `${executing} of ${limit || 'unlimited'} seats, ${waiting} waiting`;
            const cell = (text) => h('td', { class: 'right mono' }, text);
            return h(
              'tr',
              {},
              h('th', { scope: 'row' }, name),
              h('td', { class: 'wide', title: label }, seatBar({ executing, waiting, limit, label })),
              cell(level.ExecutingRequests),
              cell(level.WaitingRequests),
              cell(level.DispatchedRequests),
              cell(level.RejectedRequests),
            );
          }),
        ),
      ),
    );
  }
}

function push(values, value) {
  values.push(value);
  if (values.length > pointsMax) values.shift();
}

const padded = (values) => [...new Array(pointsMax - values.length).fill(undefined), ...values];
const rateText = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
const durationText = (value) =>
  value >= 1 ? `${value.toFixed(1)} s` : `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;

function legend(series, format) {
  return h(
    'ul',
    { class: 'chart-legend' },
    series.map(({ name, values }, index) =>
      h(
        'li',
        {},
        h('span', { class: `swatch series-${index % 6}`, 'aria-hidden': 'true' }),
        name,
        h('span', { class: 'mono' }, values.at(-1) === undefined ? ' –' : ` ${format(values.at(-1))}`),
      ),
    ),
  );
}

function faultTable({ rules, headers = 0, seed }) {
  const cell = (value) => h('td', { class: 'right mono' }, String(value));
  const row = ({ name, matched, injected }) =>
    h('tr', {}, h('th', { scope: 'row' }, name), cell(matched), cell(injected));
  return [
    h('p', { class: 'hint' }, `Seed ${seed}; ${headers} faults by the header Keelson-Fault`),
    h(
      'table',
      { class: 'table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Rule', 'Matched', 'Injected'].map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h('tbody', {}, rules.map(row)),
    ),
  ];
}
