-- Orders with the titles of their articles.
SELECT STREAM o.id, a.title, o.amount
  FROM Orders AS o
  LEFT JOIN Articles AS a ON o.article = a.article
