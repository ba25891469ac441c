/**
 * THE table of the programs that make a local control plane: which version, where its official release lies, which Go
 * package it is. go.mod beside this file pins the same versions; a test compares the two.
 */

export const clusterPrograms = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
  'kwokctl',
] as const;

export type ClusterProgram = (typeof clusterPrograms)[number];
export type ProgramName = ClusterProgram | 'pulumi';
export type Architecture = 'x64' | 'arm64';

/** Names as Node gives them. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
}

export interface Release {
  readonly url: string;
  /**
   * SHA-256 of what `url` gives, where it is known here; else it is read from `checksums`. Known means: seen in a public
   * source that took it from the release and whose other entries agree with a second source (docs/decisions/0002).
   */
  readonly sha256?: string;
  /** The release's own checksum file: one hash alone, or lines of hash and file name. */
  readonly checksums?: string;
  /** Path inside, when `url` is a tar.gz archive. */
  readonly member?: string;
}

export interface Program {
  readonly name: ProgramName;
  /** Without a leading v. */
  readonly version: string;
  /** How the program is asked for its version. */
  readonly versionArgs: readonly string[];
  /** Which found versions will do. */
  readonly fits: Fit;
  readonly goPackage: string;
  /** Go names the binary after the last part of the package path. */
  readonly goBinary: string;
  /** Official build for Linux. macOS has none of the server programs, so there all are built. */
  readonly release: (architecture: Architecture, hosts: Hosts) => Release;
}

/** A rule for versions, with its wording for messages. */
export type Fit =
  | { readonly rule: 'same-minor' }
  | { readonly rule: 'within-one-minor' }
  | { readonly rule: 'at-least'; readonly version: string };

/** Where releases are downloaded from; tests put a local server here. */
export interface Hosts {
  readonly kubernetes: string;
  readonly github: string;
}

export const officialHosts: Hosts = { kubernetes: 'https://dl.k8s.io', github: 'https://github.com' };

export const kubernetesVersion = '1.36.2';
const etcdVersion = '3.6.14';
const kwokVersion = '0.8.0';
const pulumiVersion = '3.259.0';

/** Go's names of architectures. */
const goArch = { x64: 'amd64', arm64: 'arm64' } as const;

type Sums = Partial<Record<Architecture, string>>;

function kubernetes(name: ClusterProgram, sha256: Sums): Program {
  return {
    name,
    version: kubernetesVersion,
    versionArgs: ['--version'],
    fits: { rule: 'same-minor' },
    goPackage: `k8s.io/kubernetes/cmd/${name}`,
    goBinary: name,
    release(architecture, hosts) {
      const url = `${hosts.kubernetes}/release/v${kubernetesVersion}/bin/linux/${goArch[architecture]}/${name}`;
      return { url, checksums: `${url}.sha256`, ...pinned(sha256[architecture]) };
    },
  };
}

function kwok(name: 'kwok' | 'kwokctl', sha256: Required<Sums>): Program {
  return {
    name,
    version: kwokVersion,
    versionArgs: ['--version'],
    fits: { rule: 'same-minor' },
    goPackage: `sigs.k8s.io/kwok/cmd/${name}`,
    goBinary: name,
    release: (architecture, { github }) => ({
      url: `${github}/kubernetes-sigs/kwok/releases/download/v${kwokVersion}/${name}-linux-${goArch[architecture]}`,
      sha256: sha256[architecture],
    }),
  };
}

const etcdSums = {
  x64: 'ffe840ff9295808e88cce2794a18a5ac87f12a5203c8314d0bf6aa119b41bac5',
  arm64: 'fa1b80565ee6fc2df1ae6f57a508b221f3ecc7d591c317c581cd8281b0842b3e',
};

const etcd: Program = {
  name: 'etcd',
  version: etcdVersion,
  versionArgs: ['--version'],
  fits: { rule: 'same-minor' },
  goPackage: 'go.etcd.io/etcd/server/v3',
  goBinary: 'server',
  release(architecture, { github }) {
    const folder = `etcd-v${etcdVersion}-linux-${goArch[architecture]}`;
    const base = `${github}/etcd-io/etcd/releases/download/v${etcdVersion}`;
    return { url: `${base}/${folder}.tar.gz`, sha256: etcdSums[architecture], member: `${folder}/etcd` };
  },
};

const pulumi: Program = {
  name: 'pulumi',
  version: pulumiVersion,
  versionArgs: ['version'],
  fits: { rule: 'at-least', version: '3.100.0' },
  goPackage: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi',
  goBinary: 'pulumi',
  release(architecture, { github }) {
    const base = `${github}/pulumi/pulumi/releases/download/v${pulumiVersion}`;
    return {
      url: `${base}/pulumi-v${pulumiVersion}-linux-${architecture}.tar.gz`,
      checksums: `${base}/pulumi-${pulumiVersion}-checksums.txt`,
      member: 'pulumi/pulumi',
    };
  },
};

export const programs: Readonly<Record<ProgramName, Program>> = {
  etcd,
  'kube-apiserver': kubernetes('kube-apiserver', {
    x64: '6770be17296ef36b656ad84e52b043007fb9a47ba0445c224097323291b1b33b',
    arm64: '265e3918c0659ce714fba07b6cc0634edafa4db6dd5891cc8dc3352b028af0f5',
  }),
  'kube-controller-manager': kubernetes('kube-controller-manager', {}),
  'kube-scheduler': kubernetes('kube-scheduler', {}),
  kubectl: {
    ...kubernetes('kubectl', {
      x64: '1e9045ec32bea85da43de85f0065358529ea7c7a152eca78154fba5b58c27d82',
      arm64: 'c957eb8c4bea27a3bb35b269edd9082e27f027f7b76b20b5bf4afebc726c6d3e',
    }),
    versionArgs: ['version', '--client'],
    // What Kubernetes itself supports between client and server.
    fits: { rule: 'within-one-minor' },
  },
  kwok: kwok('kwok', {
    x64: 'f5a4385a2ae1b9dd7f8acae18e002a75c0ebba124ae9d7259aa8dadb50711f46',
    arm64: '628f7d277860f524a2a775c217adcc58828e7b59ab0933680315784f1b8b0e37',
  }),
  kwokctl: kwok('kwokctl', {
    x64: 'd5743166c657283d6e827c7c4c20cacfd9009fd94830f06718ca7b2c7099461f',
    arm64: '5a642b27d3e975f36040d215640cd90fb4a63cb6fca0ad5865a61bcd9c81051b',
  }),
  pulumi,
};

/** Build flags that give the programs the version they would have as releases; without it kubectl cannot parse the server's. */
export const goFlags: readonly string[] = [
  '-trimpath',
  '-tags',
  'osusergo,grpcnotrace',
  // The linker would drop what a debugger needs anyway (-s -w); not making it saves a tenth of the compilers' time.
  '-gcflags=all=-dwarf=false',
  '-ldflags',
  [
    '-s -w',
    `-X k8s.io/component-base/version.gitVersion=v${kubernetesVersion}`,
    `-X k8s.io/component-base/version.gitMajor=${kubernetesVersion.split('.')[0] ?? ''}`,
    `-X k8s.io/component-base/version.gitMinor=${kubernetesVersion.split('.')[1] ?? ''}`,
    `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${pulumiVersion}`,
  ].join(' '),
];

function pinned(sha256: string | undefined): { sha256?: string } {
  return sha256 === undefined ? {} : { sha256 };
}
