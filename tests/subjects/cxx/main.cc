// Counts words: the C++ subject of whet's own tests.  words N [SEED]
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "table.h"

class Source {
public:
	explicit Source(unsigned start) : seed(start)
	{
	}

	std::string make()
	{
		std::string text;

		for (unsigned i = 0, n = 2 + next() % 3; i < n; i++)
			text += static_cast<char>('a' + next() % (i ? 6 : 20));
		return text;
	}

private:
	unsigned next()
	{
		seed = seed * 1103515245u + 12345u;
		return seed >> 16;
	}

	unsigned seed;
};

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000;
	Source source(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
	std::unique_ptr<Table> table = std::make_unique<HashedTable>();

	for (unsigned i = 0; i < n; i++)
		table->add(source.make());
	std::printf("%zu different words, %u in all, first '%s'\n", table->size(), n,
		table->first().text.c_str());
	return 0;
}
