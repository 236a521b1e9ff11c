import type { VersionDocument } from '../config/version-document.js';
import { objectTime } from '../registry/write/system-fields.js';

/** A diagnostic page, /statusz or /flagz. Its text is for people and has no fixed format; programs use fields(). */
export interface ServerPage {
  readonly kind: 'Statusz' | 'Flagz';
  text(): string;
  /** Returns the fields of the structured response, besides kind and metadata. */
  fields(): Record<string, unknown>;
}

/** Name of the component in both pages, as in kube-apiserver. */
const componentName = 'kube-apiserver';
const notice = 'Warning: this page is for people. Its format may change at any time.\n';

interface StatusFacts {
  readonly version: VersionDocument;
  readonly startedAtMs: number;
  readonly now: () => number;
  readonly paths: () => readonly string[];
}

export function statusPage({ version, startedAtMs, now, paths }: StatusFacts): ServerPage {
  const emulated = `${version.emulationMajor}.${version.emulationMinor}`;
  const upSeconds = () => Math.floor((now() - startedAtMs) / 1000);
  return {
    kind: 'Statusz',
    text() {
      const lines = [
        ['Started', new Date(startedAtMs).toUTCString()],
        ['Up', hoursMinutesSeconds(upSeconds())],
        ['Go version', version.goVersion],
        ['Binary version', version.gitVersion],
        ['Emulation version', emulated],
        ['Paths', paths().join(' ')],
      ];
      return page('statusz', lines.map(([name, value]) => `${name}: ${value}\n`).join(''));
    },
    fields: () => ({
      startTime: objectTime(startedAtMs),
      uptimeSeconds: upSeconds(),
      goVersion: version.goVersion,
      binaryVersion: version.gitVersion,
      emulationVersion: emulated,
      paths: paths(),
    }),
  };
}

export function flagsPage(settings: () => readonly (readonly [name: string, value: string])[]): ServerPage {
  return {
    kind: 'Flagz',
    text: () =>
      page(
        'flagz',
        settings()
          .map(([name, value]) => `${name}=${value}\n`)
          .join(''),
      ),
    fields: () => ({ flags: Object.fromEntries(settings()) }),
  };
}

function page(name: string, body: string): string {
  return `\n${componentName} ${name}\n${notice}\n${body}`;
}

function hoursMinutesSeconds(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
