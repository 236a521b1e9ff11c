import { apiVersion } from '../config/version.js';

/** How this program was built, where the build says so. */
export interface BuildInfo {
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
}

/** What the reference says of itself when nobody told its build. */
export const unknownBuild: BuildInfo = { gitCommit: '', gitTreeState: '', buildDate: '1970-01-01T00:00:00Z' };

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', x32: '386' };

/** Of /version. Clients parse major and minor as numbers, so these are digits alone. */
export function versionDocument(build: BuildInfo = unknownBuild) {
  const { major, minor, gitVersion } = apiVersion;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion,
    ...build,
    // Named for Go by the document's type; what runs here is this.
    goVersion: `node${process.versions.node}`,
    compiler: `v8-${process.versions.v8}`,
    platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
  };
}

export type VersionDocument = ReturnType<typeof versionDocument>;
