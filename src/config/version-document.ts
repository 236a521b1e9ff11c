import { apiVersion } from './version.js';

/** Build information, if the build provides it. */
interface BuildInfo {
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
}

/** Build information of kube-apiserver built without version flags. */
const unknownBuild: BuildInfo = { gitCommit: '', gitTreeState: '', buildDate: '1970-01-01T00:00:00Z' };

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', x32: '386' };

/** Returns the document of /version. Clients parse major and minor as numbers, so both contain only digits. */
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
    // The document has a field for the version of Go; here it names the version of Node.
    goVersion: `node${process.versions.node}`,
    compiler: `v8-${process.versions.v8}`,
    platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
  };
}

export type VersionDocument = ReturnType<typeof versionDocument>;
