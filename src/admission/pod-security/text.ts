import { goQuote } from '../../machinery/field-error.js';

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many);

export const quoted = (texts: readonly string[]): string => texts.map(goQuote).join(', ');

/** Returns the distinct texts, sorted. */
export const distinct = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

/** `container "a"`, `containers "a", "b"` */
export const quotedContainers = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`;
