import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { moduleFolder } from './build.ts';
import { goFlags, officialHosts, programs } from './table.ts';

const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
const all = Object.values(programs);

/** Which module a package comes from, and which version go.mod pins of it. */
function pinnedVersion(goPackage: string): string | undefined {
  const required = [...goMod.matchAll(/^\t(\S+) v(\S+)/gm)].map(([, module, version]) => ({
    module: module!,
    version: version!,
  }));
  return required.find(({ module }) => goPackage === module || goPackage.startsWith(`${module}/`))?.version;
}

describe('the table of programs', () => {
  test.each(all)('$name is built from the version that is downloaded', ({ goPackage, version }) => {
    expect(goMod).toMatch(new RegExp(`^\\t${goPackage}$`, 'm'));
    expect(pinnedVersion(goPackage)).toBe(version);
  });

  test('go.mod builds nothing else', () => {
    const tools = /^tool \(\n([^)]*)\)/m.exec(goMod)![1]!.trim().split(/\s+/);
    expect(tools).toEqual(all.map(({ goPackage }) => goPackage).sort());
  });

  test.each(all)(
    '$name has a release for both architectures, with a checksum from somewhere',
    ({ version, release }) => {
      for (const [architecture, go] of [
        ['x64', 'amd64'],
        ['arm64', 'arm64'],
      ] as const) {
        const { url, sha256, checksums } = release(architecture, officialHosts);
        expect(url).toContain(`v${version}`);
        expect(url).toMatch(new RegExp(`linux[-/](${go}|${architecture})`));
        expect(url).toMatch(/^https:/);
        if (sha256 === undefined) expect(checksums).toMatch(/^https:/);
        else expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      }
    },
  );

  test('the addresses are the official ones', () => {
    const urls = all.map(({ release }) => release('arm64', officialHosts).url);
    expect(urls).toEqual([
      'https://github.com/etcd-io/etcd/releases/download/v3.6.14/etcd-v3.6.14-linux-arm64.tar.gz',
      'https://dl.k8s.io/release/v1.36.2/bin/linux/arm64/kube-apiserver',
      'https://dl.k8s.io/release/v1.36.2/bin/linux/arm64/kube-controller-manager',
      'https://dl.k8s.io/release/v1.36.2/bin/linux/arm64/kube-scheduler',
      'https://dl.k8s.io/release/v1.36.2/bin/linux/arm64/kubectl',
      'https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-arm64',
      'https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwokctl-linux-arm64',
      'https://github.com/pulumi/pulumi/releases/download/v3.259.0/pulumi-v3.259.0-linux-arm64.tar.gz',
    ]);
  });

  test('built programs tell the versions of the table', () => {
    expect(goFlags.join(' ')).toContain('gitVersion=v1.36.2 -X k8s.io/component-base/version.gitMajor=1');
    expect(goFlags.join(' ')).toContain('version.Version=v3.259.0');
  });
});
