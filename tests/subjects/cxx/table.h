// Words and how often each was seen.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

struct Word {
	std::string text;
	unsigned count = 0;
};

class Table {
public:
	virtual ~Table() = default;
	virtual void add(const std::string &text) = 0;
	virtual std::size_t size() const = 0;
	virtual const Word &first() const = 0;
};

// A table that finds words by a hash of its own.
class HashedTable final : public Table {
public:
	HashedTable();
	void add(const std::string &text) override;
	std::size_t size() const override;
	const Word &first() const override;

private:
	std::vector<std::vector<Word>> buckets;
	std::size_t n = 0;
};
