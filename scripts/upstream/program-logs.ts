/** A log line without its variable parts, its count, and one example. */
interface LogLine {
  readonly count: number;
  readonly pattern: string;
  readonly example: string;
}

const klogError = /^E\d{4} [\d:.]+ +\d+ (.*)$/;

/** Errors of a program that logs with klog: lines that begin with E. */
export function klogErrors(text: string): LogLine[] {
  return grouped(text.split('\n').flatMap((line) => klogError.exec(line)?.[1] ?? []));
}

/** Lines of Keelson's log of level warn and above, and lines that are not log lines. */
export function keelsonWarnings(text: string): LogLine[] {
  return grouped(
    text.split('\n').filter((line) => {
      if (line === '' || /^(Serving |npm | {2}(kubeconfig|try) )|ExperimentalWarning|--trace-warnings/.test(line))
        return false;
      return Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 60) >= 40;
    }),
  );
}

function grouped(lines: readonly string[]): LogLine[] {
  const groups = new Map<string, { count: number; example: string }>();
  for (const line of lines) {
    const pattern = line
      .replace(/"time":"?[^,]*,/, '')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
      .replace(/-[a-z0-9]{4,10}\b(-[a-z0-9]{5}\b)?/g, '-*')
      .replace(/\d+/g, '#')
      .slice(0, 200);
    const group = groups.get(pattern) ?? { count: 0, example: line };
    group.count++;
    groups.set(pattern, group);
  }
  return [...groups]
    .map(([pattern, { count, example }]) => ({ count, pattern, example: example.slice(0, 600) }))
    .sort((a, b) => b.count - a.count);
}
