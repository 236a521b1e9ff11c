import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** An APT source of this machine. */
interface DebianSource {
  readonly uri: string;
  readonly suite: string;
  readonly components: string;
  /** Other fields of the entry that must be kept, above all the signing key. */
  readonly fields: readonly string[];
}

export function machineSource(): DebianSource {
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(textOf('/etc/os-release'))?.[1];
  const folder = '/etc/apt/sources.list.d';
  const files = [
    '/etc/apt/sources.list',
    ...(existsSync(folder) ? readdirSync(folder).map((name) => `${folder}/${name}`) : []),
  ];
  const sources = files.flatMap((file) => {
    if (file.endsWith('.sources')) return parseSources(textOf(file));
    return file.endsWith('.list') ? parseList(textOf(file)) : [];
  });
  const source = sources.find(({ suite }) => suite === codename) ?? sources[0];
  if (!source) throw new Error('no package source found in /etc/apt');
  return source;
}

/** Parses the deb822 format: paragraphs of `Field: value`. */
export function parseSources(text: string): DebianSource[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const lines = paragraph.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const entry = lines.join('\n');
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(entry)?.[1]?.trim() ?? '';
    const uri = field('URIs').split(/\s+/)[0]!;
    if (!field('Types').split(/\s+/).includes('deb') || uri === '' || /^no$/i.test(field('Enabled'))) return [];
    const fields = lines
      .join('\n')
      .split(/\n(?=\S)/)
      .filter((one) => !/^(Types|URIs|Suites|Components|Enabled):/i.test(one));
    const components = field('Components');
    return field('Suites')
      .split(/\s+/)
      .filter((suite) => suite !== '')
      .map((suite) => ({ uri, suite, components, fields }));
  });
}

/** Parses the one-line format: `deb [option=value …] uri suite component …`. */
export function parseList(text: string): DebianSource[] {
  return text.split('\n').flatMap((line) => {
    const entry = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$/.exec(line.trim());
    if (!entry) return [];
    const [, options = '', uri, suite, components] = entry as unknown as [string, string?, ...string[]];
    const signedBy = /signed-by=(\S+)/i.exec(options)?.[1];
    return [
      { uri: uri!, suite: suite!, components: components!.trim(), fields: signedBy ? [`Signed-By: ${signedBy}`] : [] },
    ];
  });
}

export function withSuite(source: DebianSource, suite: string): string {
  const { uri, components, fields } = source;
  return `${['Types: deb', `URIs: ${uri}`, `Suites: ${suite}`, `Components: ${components}`, ...fields].join('\n')}\n`;
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
