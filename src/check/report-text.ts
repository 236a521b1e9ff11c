import { prettyJson } from '../codec/json.js';
import {
  problemsOf,
  type CheckReport,
  type OtherKeysReport,
  type Problem,
  type ResourceReport,
} from './check-report.js';

export type ReportFormat = 'table' | 'json';

export function reportText(report: CheckReport, format: ReportFormat): string {
  return format === 'json' ? prettyJson(report).toString() : tableText(report);
}

/** Formats the table of resources, then problems, other keys, and the verdict. */
function tableText(report: CheckReport): string {
  const { prefix, revision, lastRevision, keys, seconds, resources, others } = report;
  const at = lastRevision === revision ? `revision ${revision}` : `revisions ${revision} to ${lastRevision}`;
  const sections = [
    [`${counted(keys, 'key')} under ${printable(prefix)} at ${at}, read in ${seconds} s. Nothing was written.`],
    lastRevision === revision
      ? []
      : ['History was compacted during the check: the rest was read at the later revision, not at the first one.'],
    resources.length === 0 ? [] : resourceLines(report),
    problemLines(report),
    otherLines(others),
    notServedLines(resources),
    [verdict(report)],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Returns the resource as kubectl names it: `deployments.apps`. */
function resourceName({ resource, group }: ResourceReport): string {
  return group === '' ? resource : `${resource}.${group}`;
}

const heads = ['RESOURCE', 'OBJECTS', 'READABLE', 'CONVERTED', 'VALID', 'PROBLEMS'];

function resourceLines({ resources, totals }: CheckReport): string[] {
  const sorted = resources.map((one) => [resourceName(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = [...sorted, ['TOTAL', totals] as const].map(([name, counts]) => [
    printable(name),
    ...[counts.objects, counts.readable, counts.converted, counts.valid, problemsOf(counts)].map(String),
  ]);
  return columns([heads, ...rows]);
}

/** Aligns the first column to the left, all others to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '),
  );
}

const problemTexts: Readonly<Record<Problem['type'], string>> = {
  unreadable: 'cannot be read',
  unknownFields: 'cannot be written',
  invalid: 'not valid',
};

function problemLines({ resources, others }: CheckReport): string[] {
  const found = [
    ...resources.map((one) => ({ name: resourceName(one), count: problemsOf(one), problems: one.problems })),
    ...others.map(({ name, encrypted, problems }) => ({ name, count: encrypted, problems })),
  ].filter(({ count }) => count > 0);
  if (found.length === 0) return [];
  const lines = found.flatMap(({ name, count, problems }) => [
    `  ${printable(name)} (${count})`,
    ...problems.map(
      ({ key, type, reason }) => `    ${shortened(printable(key))}: ${problemTexts[type]}: ${printable(reason)}`,
    ),
    ...(count > problems.length ? [`    … and ${count - problems.length} more; --all lists every one`] : []),
  ]);
  return ['Problems:', ...lines];
}

function otherLines(others: readonly OtherKeysReport[]): string[] {
  if (others.length === 0) return [];
  const rows = others.map(({ name, keys }) => [`  ${printable(name)}`, String(keys)]);
  const lines = columns(rows).map((line, index) => {
    const { note } = others[index]!;
    return note === undefined ? line : `${line}  ${note}`;
  });
  return ['Other keys (records of API servers, objects of no known resource):', ...lines];
}

function notServedLines(resources: readonly ResourceReport[]): string[] {
  const lines = resources.flatMap((one) =>
    one.servedWith === undefined ? [] : [`  ${resourceName(one)}: ${one.servedWith}`],
  );
  return lines.length === 0 ? [] : ['Resources that are only served with a flag:', ...lines];
}

function verdict({ keys, prefix, totals, others, isClean }: CheckReport): string {
  if (keys === 0) return `There are no keys under ${printable(prefix)}: is --etcd-prefix right?`;
  if (isClean) return `All ${counted(totals.objects, 'object')} can be read and are valid.`;
  const encrypted = others.reduce((sum, one) => sum + one.encrypted, 0);
  const unreadable = totals.objects - totals.readable;
  const invalid = totals.readable - totals.valid;
  const parts = [
    ...(unreadable > 0 ? [`${unreadable} cannot be read`] : []),
    ...(invalid > 0 ? [`${invalid} cannot be updated without a correction`] : []),
    ...(encrypted > 0 ? [`${counted(encrypted, 'value')} of no known resource cannot be read`] : []),
  ];
  return `Of ${counted(totals.objects, 'object')}: ${parts.join('; ')}.`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const keyLengthMax = 1000;
const shortened = (text: string): string => (text.length > keyLengthMax ? `${text.slice(0, keyLengthMax)}…` : text);

/**
 * Escapes control characters and characters that a terminal does not show. Bytes that are not UTF-8 are lone surrogates
 * (key-text.ts).
 */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = char.codePointAt(0)!;
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code & 0xff).toString(16)}`;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}
