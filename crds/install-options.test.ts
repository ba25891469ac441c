import { describe, expect, test } from '@jest/globals';
import { parseInstallOptions } from './install-options.ts';

const problemsOf = (raw: Readonly<Record<string, unknown>>): readonly string[] => {
  try {
    parseInstallOptions(raw);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
};

describe('install options', () => {
  test('all have a default', () => {
    expect(parseInstallOptions()).toEqual({
      namespace: 'reprise-system',
      image: 'ghcr.io/reprise-dev/reprise:0.1.0',
      replicas: 1,
      watchNamespaces: ['default'],
      logLevel: 'info',
      samples: true,
      samplesNamespace: 'default',
    });
  });

  test('are read from texts, as the environment has them', () => {
    const raw = {
      namespace: 'operators',
      image: `registry.example.com:5000/reprise@sha256:${'a1'.repeat(32)}`,
      replicas: '1',
      watchNamespaces: ' team-a, team-b,team-a ',
      logLevel: 'debug',
      samples: 'false',
      samplesNamespace: 'team-b',
    };
    expect(parseInstallOptions(raw)).toEqual({
      ...raw,
      replicas: 1,
      watchNamespaces: ['team-a', 'team-b'],
      samples: false,
    });
  });

  test('are read from values, as a stack configuration has them', () => {
    expect(parseInstallOptions({ replicas: 1, watchNamespaces: ['team-a', 'team-b'], samples: false })).toMatchObject({
      replicas: 1,
      watchNamespaces: ['team-a', 'team-b'],
      samples: false,
    });
  });

  test('count as absent when they are empty', () => {
    expect(parseInstallOptions({ namespace: '', samplesNamespace: undefined, image: null })).toEqual(
      parseInstallOptions(),
    );
  });

  test('put the samples where the operator looks', () => {
    expect(parseInstallOptions({ watchNamespaces: 'team-a,team-b' }).samplesNamespace).toBe('team-a');
    expect(parseInstallOptions({ watchNamespaces: '*' })).toMatchObject({
      watchNamespaces: ['*'],
      samplesNamespace: 'default',
    });
    expect(parseInstallOptions({ watchNamespaces: '*', samplesNamespace: 'team-c' }).samplesNamespace).toBe('team-c');
    expect(problemsOf({ watchNamespaces: 'team-a,team-b', samplesNamespace: 'team-c' })).toEqual([
      '  samplesNamespace: expected one of watchNamespaces (team-a, team-b); got "team-c"',
    ]);
  });

  test('do not care where samples would be when there are none', () => {
    expect(problemsOf({ samples: false, samplesNamespace: 'elsewhere' })).toEqual([]);
  });
});

describe('an install option that is not right', () => {
  test.each([
    ['namespace', 'Upper'],
    ['namespace', 'default'],
    ['namespace', 'kube-system'],
    ['namespace', 'a'.repeat(64)],
    ['image', 'no spaces allowed'],
    ['image', 'name@sha256:short'],
    ['replicas', '2'],
    ['replicas', -1],
    ['replicas', 'toString'],
    ['watchNamespaces', 'team-a,,team-b'],
    ['watchNamespaces', 'team-a,*'],
    ['watchNamespaces', 'Team'],
    ['logLevel', 'loud'],
    ['samples', 'maybe'],
    ['samples', 'toString'],
    ['samplesNamespace', 'not_a_name'],
  ])('%s: %j is told by name, with what was expected', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      new RegExp(`^  ${name}: expected .+; got ${JSON.stringify(value).replace('*', '\\*')}$`),
    );
  });

  test('says why there can be only one operator', () => {
    expect(problemsOf({ replicas: 2 })[0]).toContain('safe only with leader election');
  });

  test('may be one that does not exist', () => {
    expect(problemsOf({ colour: 'blue' })).toEqual([
      '  colour: no such option; there are namespace, image, replicas, watchNamespaces, logLevel, samples, samplesNamespace',
    ]);
  });

  test('is told together with all others, each as the user knows it', () => {
    const spelt = (option: string) => `reprise:${option}`;
    expect(() => parseInstallOptions({ replicas: 3, logLevel: 'loud' }, spelt)).toThrow(
      /install options are not right:\n {2}reprise:replicas: .+\n {2}reprise:logLevel: .+$/,
    );
  });
});
